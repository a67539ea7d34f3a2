import type { Db, Sql } from '../../src/platform/db/connect.ts';

/** A statement as it was sent; its parameters are texts once it has run. */
export interface Sent {
  text: string;
  parameters: unknown[];
}

/** How Postgres carries a statement out. */
export interface Explained {
  /** Each executed scan of one of the tables, as `index` or `table: Seq Scan`. */
  scans: string[];
  /** Blocks that it reads, from memory or not. */
  blocks: number;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  // Of a statement that was carried out.
  'Actual Loops'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

export const PLAN_MODES = ['force_generic_plan', 'force_custom_plan'] as const;
const UNIQUE_VIOLATION = '23505';
class Over extends Error {}
/** Prepared statements outlive the transaction. */
let prepared = 0;

/** Carries a statement out once more, with a plan for any parameters or one for these, and takes it back. */
export async function explainStatement(
  sql: Sql,
  { text, parameters }: Sent,
  { mode, tables }: { mode: (typeof PLAN_MODES)[number]; tables: readonly string[] },
): Promise<Explained> {
  const types = parameters.map((value) => (value === 'true' || value === 'false' ? 'boolean' : 'unknown'));
  const values = parameters.map((value) => (value === null ? 'null' : literal(String(value))));
  const given = (list: readonly string[]) => (list.length === 0 ? '' : `(${list.join(', ')})`);
  const planOf = async (options: string): Promise<PlanNode> => {
    let found: PlanNode | undefined;
    const run = async (tx: Db) => {
      await tx.unsafe(`set local plan_cache_mode = ${mode}`);
      prepared += 1;
      const name = `explained_${prepared}`;
      await tx.unsafe(`prepare ${name} ${given(types)} as ${text}`);
      const [row] = await tx.unsafe<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>(
        `explain (${options}format json) execute ${name} ${given(values)}`,
      );
      found = row!['QUERY PLAN'][0].Plan;
      throw new Over();
    };
    await sql.begin(run).catch((error: unknown) => {
      if (!(error instanceof Over)) throw error;
    });
    return found!;
  };
  const plan = await planOf('analyze, buffers, ').catch((error: { code?: string }) => {
    if (error.code !== UNIQUE_VIOLATION) throw error;
    return planOf(''); // what has stored a row cannot store it again
  });
  const wholes = await wholesOf(sql);
  return {
    scans: [...new Set(scansOf(plan, { tables, wholes }))].sort(),
    blocks: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
  };
}

const literal = (text: string): string => ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** The divided table or index that a part belongs to, by the name of the part. */
async function wholesOf(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ part: string; whole: string }[]>`
    select part.relname as part, whole.relname as whole from pg_inherits
    join pg_class part on part.oid = inhrelid join pg_class whole on whole.oid = inhparent`;
  return new Map(rows.map(({ part, whole }) => [part, whole]));
}

interface Known {
  tables: readonly string[];
  wholes: ReadonlyMap<string, string>;
}

function scansOf(node: PlanNode, known: Known): string[] {
  const { tables, wholes } = known;
  const below = (node.Plans ?? []).flatMap((each) => scansOf(each, known));
  const { 'Node Type': type } = node;
  const [table, index] = [node['Relation Name'], node['Index Name']].map((name) => wholes.get(name ?? '') ?? name);
  if (node['Actual Loops'] === 0 || type === 'ModifyTable' || type === 'Bitmap Heap Scan') return below;
  if (index !== undefined && tables.some((name) => index.startsWith(`${name}_`))) return [index, ...below];
  if (index === undefined && table !== undefined && tables.includes(table)) return [`${table}: ${type}`, ...below];
  return below;
}

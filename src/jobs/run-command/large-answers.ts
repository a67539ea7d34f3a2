import { assert } from '../../engine/assert.ts';
import type { Context } from '../../platform/context.ts';
import { Answer, type Operation } from '../../platform/operation.ts';

/** Answers with more bytes are not stored (idempotency.md). */
const MOST_STORED_BYTES = 1024 * 1024;

/** Stored instead of a body: how to read the record again. */
export interface Digest {
  root: string;
  /** Ids of the records of a list, in their order. */
  ids?: string[];
  /** The other fields of the list's answer. */
  rest?: Record<string, unknown>;
  /** Path parameters of the read. */
  params?: Record<string, string>;
}

/**
 * The digest of an answer that is too large to be stored; undefined if it is not, or if no read can repeat it. A replay
 * shows the record in its current state. Rule: idempotency.md "answers above 1 MiB".
 */
export function digestOf(
  operations: ReadonlyMap<string, Operation>,
  operation: Operation,
  input: unknown,
  body: string,
): Digest | undefined {
  if (Buffer.byteLength(body) <= MOST_STORED_BYTES) return undefined;
  const { records: root = Object.keys(JSON.parse(body))[0]! } = operation.reread ?? {};
  const { [root]: record, ...rest } = JSON.parse(body) as Record<string, unknown>;
  if (operation.reread) return { root, rest, ids: (record as { svc_id: string }[]).map(({ svc_id }) => svc_id) };
  const reader = readerOf(operations, operation);
  if (!reader || typeof record !== 'object' || record === null || Array.isArray(record)) return undefined;
  const sent = input as Record<string, unknown>;
  const params = paramsOf(reader.path).map((name) => [name, sent[name] ?? fieldOf(record, name)]);
  return params.every(([, value]) => typeof value === 'string')
    ? { root, params: Object.fromEntries(params) }
    : undefined;
}

/** The answer that a digest represents. @throws Refusal 404 when the record is gone */
export async function readAgain(
  ctx: Context,
  operations: ReadonlyMap<string, Operation>,
  operation: Operation,
  digest: Digest,
): Promise<string> {
  if (operation.reread) {
    const records = await operation.reread.read(ctx, digest.ids ?? []);
    const rest = JSON.stringify(digest.rest ?? {}).slice(1, -1);
    return `{"${digest.root}":[${records.join(',')}]${rest === '' ? '' : `,${rest}`}}`;
  }
  const reader = readerOf(operations, operation);
  assert(reader, 'an operation that made a digest has a reader');
  const read = await reader.run(ctx, { ...digest.params, query: reader.query?.parse({}) });
  const answer = read instanceof Answer ? read : new Answer(read);
  return answer.json ?? JSON.stringify(answer.body);
}

/** The read of the record that a command answers with: at its own path, one parameter further, or where it starts. */
function readerOf(operations: ReadonlyMap<string, Operation>, command: Operation): Operation | undefined {
  const reads = [...operations.values()].filter(({ kind, path }) => kind === 'read' && /:[^/]+$/.test(path));
  return (
    reads.find(({ path }) => path === command.path || path.replace(/\/:[^/]+$/, '') === command.path) ??
    reads.find(({ path }) => command.path.startsWith(`${path}/`))
  );
}

const paramsOf = (path: string): string[] => [...path.matchAll(/:([^/]+)/g)].map(([, name]) => name!);

/** Field of a record that a path parameter names: `charge_code` is the code of a charge. */
const fieldOf = (record: object, name: string): unknown =>
  (record as Record<string, unknown>)[name] ??
  (record as Record<string, unknown>)[name.replace(/^.*_(?=code$|id$)/, '')];

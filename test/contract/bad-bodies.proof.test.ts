import { readFileSync } from 'node:fs';
import type { TransactionSql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flowCommands } from '../../src/flow-commands.ts';
import { openApiDocument } from '../../src/ingress/openapi.ts';
import { readInput } from '../../src/ingress/read-input.ts';
import { type CommandDeps, type CommandJob, runCommand } from '../../src/jobs/run-command/run-command.ts';
import { operations, operationsByName } from '../../src/operations.ts';
import { newId } from '../../src/platform/ids.ts';
import { parseBody } from '../../src/platform/json/parse-body.ts';
import { createLog } from '../../src/platform/log/log.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { Refusal } from '../../src/platform/refusal.ts';
import { bodyWithPlaces } from '../../src/platform/schema/error-places.ts';
import { reactions } from '../../src/reactions.ts';
import { isInEveryRun } from '../support/long-run.ts';
import { startService, type TestService } from '../support/service.ts';
import { booksOf, everythingDone } from './books.ts';
import { fullBodies, type Sendable } from './full-bodies.ts';
import { fieldsOf, type JsonSchema, type Mutation, mutationsOf, random, YEARS } from './mutations.ts';
import { buildWorld, paramsOf, pathOf, type World } from './world.ts';

// Every field of every body gone wrong in every way: what is refused is refused in the form of error-bodies.md, with
// codes and fields that are known, and changes nothing; what is accepted fits its type. Commands run here in
// transactions that are rolled back, so that each meets the same world; a sample of them goes the whole way over HTTP.
// With LONG_TESTS=1 each runs; else the schema is asked of each, and a third of what it lets pass runs.
type Sent = Awaited<ReturnType<TestService['org']>>;
interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  body: any;
}
interface Refused {
  operation: Operation;
  text: string;
  answer: Answered;
}

let service: TestService;
let owner: Sent;
let world: World;
let sendables: Record<string, Sendable>;
let apiKeyId: string;

beforeAll(async () => {
  service = await startService();
  owner = await service.org({ sandbox: true, name: 'Owner' });
  world = await buildWorld(owner, service.sql);
  sendables = await fullBodies(owner, world);
  await everythingDone(service.sql);
  [{ id: apiKeyId }] = await service.sql<[{ id: string }]>`
    select id from api_keys where organization_id = ${owner.organization.organization_id} order by id limit 1`;
});
afterAll(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: the document is known by its form only
const document = openApiDocument(operations, { url: 'http://localhost', version: '1' }) as any;
const schemaOf = ({ path, method }: Operation): JsonSchema | undefined => {
  const body = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method]?.requestBody;
  const json = body?.content['application/json'];
  return json && document.components.schemas[json.schema.$ref.split('/').at(-1)];
};

const written = operations.filter((operation) => operation.method !== 'get' && schemaOf(operation) !== undefined);
const commands = written.filter(({ kind }) => kind === 'command');

/** Of the whole bodies, those that the world's records do not let pass, and how they are refused. */
const NOT_PASSING: Record<string, number> = {
  createTestClock: 422, // there is one already
  updateFee: 405, // the fee stands on an invoice
  syncInvoiceCrmId: 404, // no integration
  regenerateInvoice: 405, // the invoice is not voided
  createAdjustedFee: 403, // nor a draft
  previewAdjustedFee: 403,
  createCreditNoteEDocument: 422, // seller and buyer have no addresses
  retryPayment: 405, // nothing failed
  resendInvoiceEmail: 405, // mails are switched off
  resendCreditNoteEmail: 405,
  resendPaymentReceiptEmail: 405,
  confirmSandboxPayment: 405, // it is paid already
  finishSandboxCheckout: 404, // no checkout is open
  updateBudgetHold: 405, // it has expired
  settleWalletHold: 405, // it has expired
  updateWalletHold: 405,
  updateAuditFinding: 404, // nothing was found
  verifyMailSender: 405, // its code is over
  createProviderReconciliation: 404, // no provider is connected
};

test('every write has a complete sample body, which is accepted', async () => {
  const odd: unknown[] = [];
  for (const operation of commands) {
    const sendable = sendables[operation.name];
    const answer = sendable && (await run(operation, JSON.stringify(sendable.body)));
    if (answer?.status !== (NOT_PASSING[operation.name] ?? 200)) odd.push({ operation: operation.name, answer });
  }
  expect(odd).toEqual([]);
});

/** The writes are walked in so many tests, to keep each well within its time. */
const SHARES = 16;
/** Fields of the same names, such as those of a charge, run in one operation; the schemas of all are asked. */
const ran = new Set<string>();

const refused: Refused[] = [];

test.each(Array.from({ length: SHARES }, (_, share) => share))(
  'a body with one wrong field is accepted or refused by that field: share %i of the writes',
  async (share) => {
    const odd: unknown[] = [];
    for (const operation of commands.filter((_, index) => index % SHARES === share))
      odd.push(...(await walk(operation)));
    expect(odd).toEqual([]);
  },
);

/** Whether a mutation runs in this run of the tests; else the schema alone is asked, or nobody if it is long. */
const isPlayed = ({ isTelling, sign }: Mutation): boolean => isTelling || isInEveryRun(sign);

/** Sends an operation every mutation of its body; notes one refusal of each kind in `refused`. */
async function walk(operation: Operation): Promise<unknown[]> {
  const { body } = sendables[operation.name]!;
  const schema = schemaOf(operation)!;
  const odd: unknown[] = [];
  const kinds = new Set<string>();
  // What takes a text that is no date looks for none: one date more proves nothing.
  const takenAsText = new Set<string>();
  for (const mutation of mutationsOf(schema, body, operation.bodyLimitBytes)) {
    const isOver = ran.has(mutation.sign) || !isPlayed(mutation);
    if (mutation.isMany && isOver) continue;
    const place = mutation.path.join('.');
    const isAskedOnly = mutation.isWord || (mutation.isDate && takenAsText.has(place)) || isOver;
    const answer = await run(operation, mutation.text, isAskedOnly);
    if (answer === undefined) continue;
    ran.add(mutation.sign);
    if (mutation.isPlain && answer.status === 200) takenAsText.add(place);
    const fault = faultOf(answer, mutation, namesIn(schema, body));
    if (fault) odd.push({ operation: operation.name, at: place, fault, sent: mutation.text.slice(0, 300) });
    const kind = `${answer.status} ${Object.keys(answer.body?.error_details ?? {}).length === 1}`;
    if (answer.status === 200 || kinds.has(kind)) continue;
    kinds.add(kind);
    refused.push({ operation, text: mutation.text, answer });
  }
  return odd;
}

test('over HTTP each wrong body is refused with the same words, and no row changes', async () => {
  const { organization_id } = owner.organization;
  const notes = ['api_logs', 'idempotency_keys', 'api_keys'];
  const before = await booksOf(service.sql, organization_id, notes);
  const odd: unknown[] = [];
  for (const { operation, text, answer } of refused) {
    const { status, body } = await send(operation, text);
    if (status !== answer.status || JSON.stringify(body) !== JSON.stringify(answer.body))
      odd.push({ operation: operation.name, sent: text.slice(0, 300), here: answer, there: { status, body } });
  }
  expect(odd).toEqual([]);
  await everythingDone(service.sql);
  expect(await booksOf(service.sql, organization_id, notes)).toEqual(before);
});

/**
 * What is not a command goes over HTTP, a few requests at once, as events wait for each other to be stored together. As
 * with commands, a word too many and what ran in another operation is asked of the schema alone.
 */
const SENT_AT_ONCE = 20;

test.each(
  written.filter(({ kind, readsOwnBody }) => kind !== 'command' && !readsOwnBody).map((operation) => [operation.name]),
)('a body of %s with one wrong field is accepted or refused by that field over HTTP', async (name) => {
  const operation = operationsByName.get(name)!;
  const { body } = sendables[name]!;
  const schema = schemaOf(operation)!;
  const odd: unknown[] = [];
  const mutations = mutationsOf(schema, body, operation.bodyLimitBytes);
  const sendRest = async () => {
    for (const mutation of mutations) {
      const isOver = ran.has(mutation.sign) || !isPlayed(mutation);
      if (mutation.isMany && isOver) continue;
      const isAskedOnly = mutation.isWord || isOver;
      ran.add(mutation.sign);
      const answer = isAskedOnly ? await run(operation, mutation.text, true) : await send(operation, mutation.text);
      if (answer === undefined) continue;
      const fault = faultOf(answer, mutation, namesIn(schema, body));
      if (fault) odd.push({ operation: name, at: mutation.path.join('.'), fault, sent: mutation.text.slice(0, 300) });
    }
  };
  await Promise.all(Array.from({ length: SENT_AT_ONCE }, sendRest));
  expect(odd).toEqual([]);
});

const ODD_FILTERS = [
  '1e400',
  '99999999999999999999',
  'nobody-knows',
  '2026-02-30',
  'a%00b',
  ...YEARS.map(encodeURIComponent),
  random(5000),
  `0.${'7'.repeat(12_000)}`, // a line of a request ends at 16 KiB
];

// They are the same everywhere.
const PAGES = ['page', 'per_page'];

test('no filter value of a read causes a failure', async () => {
  const odd: unknown[] = [];
  for (const operation of operations.filter(({ method }) => method === 'get')) {
    const path = pathOf(operation, world);
    const start = path.includes('?') ? `${path}&` : `${path}?`;
    const names = Object.keys((operation.query as { shape?: object } | undefined)?.shape ?? {}).filter(
      (name) => !PAGES.includes(name) || operation.name === 'findAllPlans',
    );
    const queries = names
      .flatMap((name) => [
        ...ODD_FILTERS.map((value) => `${name}=${value}`),
        `${name}[]=a&${name}[]=b`,
        `${name}[a][b]=c`,
      ])
      .filter((query) => isInEveryRun(`${operation.name} ${query}`));
    const answers = await Promise.all(queries.map((query) => owner.get(start + query)));
    for (const [index, { status, body }] of answers.entries()) {
      const query = queries[index]!;
      const isKnown =
        [200, 400, 403, 404, 405].includes(status) || detailsFault(body, new Set([...names, ...OTHERS])) === undefined;
      if (!isKnown) odd.push({ operation: operation.name, query: query.slice(0, 100), status, body });
    }
  }
  expect(odd).toEqual([]);
});

/** Answer of a command in a transaction of its own that is taken back; with `onlyParsed` nothing when it would run. */
async function run(operation: Operation, text: string, onlyParsed?: false): Promise<Answered>;
async function run(operation: Operation, text: string, onlyParsed: boolean): Promise<Answered | undefined>;
async function run(operation: Operation, text: string, onlyParsed = false): Promise<Answered | undefined> {
  let input: object;
  let sent: unknown;
  try {
    sent = parseBody(text, { keepLiterals: false });
    input = { ...paramsOf(operation, placeOf(operation)), ...readInput(operation, {}, sent) };
  } catch (error) {
    const { root } = operation;
    const body = root === undefined ? sent : (sent as Record<string, unknown> | undefined)?.[root];
    if (error instanceof Refusal) return { status: error.status, body: bodyWithPlaces(operation, { body }, error) };
    return { status: 500, body: String(error) };
  }
  if (onlyParsed) return undefined;
  const job: CommandJob = {
    v: 1,
    from: 'test',
    cid: newId(),
    at: 0,
    operation: operation.name,
    organization_id: owner.organization.organization_id,
    sandbox: true,
    api_key_id: apiKeyId,
    request_id: newId(),
    input: JSON.parse(JSON.stringify(input)),
    idempotency: null,
    request: {
      method: operation.method,
      origin: 'http://localhost',
      path: operation.path,
      client: null,
      parameters: '{}',
    },
  };
  try {
    const { status, body } = await runCommand(takenBack(), job);
    return { status, body: body === '' ? null : JSON.parse(body) };
  } catch (error) {
    return { status: 500, body: error instanceof Error ? error.stack?.split('\n').slice(0, 12) : String(error) };
  }
}

class Undone extends Error {
  readonly outcome: unknown;

  constructor(outcome: unknown) {
    super('undone');
    this.outcome = outcome;
  }
}

const log = createLog({ level: 'silent', process: 'test' });

/** What commands run with; a transaction is checked as at its commit and rolled back, and nobody is told of it. */
function takenBack(): CommandDeps {
  const begin = async (work: (tx: TransactionSql) => Promise<unknown>) => {
    try {
      return await service.sql.begin(async (tx) => {
        const outcome = await work(tx as unknown as TransactionSql);
        await tx.unsafe('set constraints all immediate');
        throw new Undone(outcome);
      });
    } catch (error) {
      if (error instanceof Undone) return error.outcome;
      throw error;
    }
  };
  const silent = async () => {};
  return {
    sql: { begin },
    producer: { add: silent, addMany: silent, accessChanged: silent, deliver: () => {} },
    config: service.config,
    log,
    operations: operationsByName,
    flows: flowCommands,
    reactions,
  } as unknown as CommandDeps;
}

/** The world, with the records in the places of the operation that its body is about. */
function placeOf({ name, path }: Operation): World {
  const sent = sendables[name]?.path?.split('/');
  if (!sent) return world;
  const places = path
    .split('/')
    .flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), sent[index]!]] : []));
  const root = path.split('/')[1]!;
  return { ...world, [root]: { ...world[root], ...Object.fromEntries(places) } };
}

async function send(operation: Operation, text: string): Promise<Answered> {
  const path = pathOf(operation, placeOf(operation));
  const { status, body } = await owner[operation.method as 'post'](path, undefined, {
    raw: text,
    headers: { 'content-type': 'application/json' },
    beyondContract: 'json.md "input numbers", events.md#fields: what is taken though it is odd',
  });
  return { status, body };
}

/** A status beside the root of a subscription that no subscription has is as good as none. */
const LENIENT = 'status';
const STATUSES = [200, 400, 403, 404, 405, 413];
const CODES = new Set(
  readFileSync(new URL('codes.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#')),
);
// Codes that tell what they are about.
const TELLING = /^(contains (forbidden (keys|values)|invalid types): \[|is in invalid format$)/;
/** Names under which the rules have errors beside those of the fields themselves. */
const OTHERS = readFileSync(new URL('error-fields.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => !line.startsWith('#'));

/** What is wrong with an answer, if anything. */
function faultOf({ status, body }: Answered, mutation: Mutation, names: ReadonlySet<string>): unknown {
  if (status === 200 && mutation.isMistyped && mutation.path[0] !== LENIENT) return 'accepted';
  if (STATUSES.includes(status) || (status === 422 && mutation.isOtherWord)) return undefined;
  return status === 422 ? detailsFault(body, names) : { status, body };
}

function detailsFault(body: Answered['body'], names: ReadonlySet<string>): unknown {
  const { status, error, code, error_details, error_places = [], ...more } = body;
  if (status !== 422 || error !== 'Unprocessable Entity' || Object.keys(more).length > 0) return body;
  if (code === 'stripe_required') return Object.keys(error_details).length > 0 ? body : undefined;
  if (code !== 'validation_errors') return body;
  const odd = Object.entries(error_details).filter(([field, codes]) => !isKnown(field, codes, names));
  if (odd.length > 0 || Object.keys(error_details).length === 0) return Object.fromEntries(odd.slice(0, 3));
  return error_places.length > 100 ? error_places.length : error_places.find((place: object) => !isPlace(place));
}

const isPlace = ({
  path,
  code,
  allowed = [],
  reason = 'none',
  ...more
}: {
  path?: string;
  code?: string;
  allowed?: unknown[];
  reason?: string;
}): boolean =>
  /^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*$/.test(path ?? '') &&
  (CODES.has(code!) || TELLING.test(code!)) &&
  allowed.length <= 50 &&
  /^[\w .-]{3,300}$/.test(reason) &&
  Object.keys(more).length === 0;

function isKnown(field: string, codes: unknown, names: ReadonlySet<string>): boolean {
  if (!Array.isArray(codes)) {
    // Of a batch: by the number of the element.
    const errors = (codes as { errors?: object }).errors ?? (codes as object);
    return /^\d+$/.test(field) && Object.entries(errors).every(([inner, each]) => isKnown(inner, each, names));
  }
  // A filter with members of members is unknown as a whole: `code[a][b]`.
  const [name] = field.split('[');
  const isNamed = name!.split(/[.:]/).every((part) => /^\d+$/.test(part) || names.has(part));
  const areCodes = codes.every((code) => CODES.has(code) || TELLING.test(code));
  return isNamed && areCodes && codes.length > 0 && new Set(codes).size === codes.length;
}

/** Every name of a field in a schema or a body. */
const known = new Map<unknown, ReadonlySet<string>>();
function namesIn(schema: JsonSchema, body: unknown): ReadonlySet<string> {
  const names = known.get(body) ?? new Set([...fieldsOf(schema, body).flatMap(({ path }) => path), ...OTHERS]);
  known.set(body, names);
  return names;
}

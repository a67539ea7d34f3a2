import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

const root = projectRoot();

/** The areas from the lowest to the highest: an area imports only areas below it. */
const AREAS = [
  'messaging',
  'catalog',
  'customers',
  'subscriptions',
  'usage',
  'tenancy',
  'ledger',
  'invoices',
  'credits',
  'payments',
  'documents',
  'billing',
  'selling',
  'reporting',
  'sandbox',
];

/** The tables that show the system at a glance. */
const TABLES = [
  'src/operations.ts',
  'src/flow-commands.ts',
  'src/pre-steps.ts',
  'src/reactions.ts',
  'src/steps.ts',
  'src/step-handlers.ts',
  'src/periodic-jobs.ts',
  'src/schedule.ts',
];

/** The house's floors: what the files of a folder may import. */
const MAY_IMPORT: Record<string, string[]> = {
  'src/engine': ['src/engine'],
  'src/platform': ['src/platform', 'src/engine', 'src/queues.ts', 'src/steps.ts'],
  ...Object.fromEntries(
    AREAS.map((area, index) => [
      `src/areas/${area}`,
      [
        ...AREAS.slice(0, index + 1).map((below) => `src/areas/${below}`),
        'src/engine',
        'src/platform',
        'src/queues.ts',
        'src/steps.ts',
        'src/schedule.ts',
      ],
    ]),
  ),
  'src/jobs': ['src/jobs', 'src/areas', 'src/engine', 'src/platform', 'src/queues.ts', ...TABLES],
  'src/ingress': ['src/ingress', 'src/jobs', 'src/areas', 'src/engine', 'src/platform', 'src/queues.ts', ...TABLES],
  'src/commands': ['src', 'workers'],
  'src/queues.ts': ['src/platform'],
  'src/schedule.ts': ['src/platform', 'src/engine'],
  'src/operations.ts': ['src/areas', 'src/platform'],
  'src/flow-commands.ts': ['src/areas', 'src/platform'],
  'src/pre-steps.ts': ['src/areas', 'src/platform'],
  'src/reactions.ts': ['src/areas', 'src/platform'],
  'src/steps.ts': ['src/queues.ts', 'src/platform'],
  'src/step-handlers.ts': ['src/areas', 'src/platform', 'src/steps.ts'],
  'src/periodic-jobs.ts': ['src/areas', 'src/jobs', 'src/platform'],
  console: ['console', 'src/engine'],
  workers: ['workers', 'src/jobs', 'src/areas', 'src/platform', 'src/queues.ts', ...TABLES],
};

/** Libraries of the floors that may not use just any . */
const MAY_USE: Record<string, RegExp> = {
  'src/engine': /^(decimal\.js|temporal-polyfill)$/,
  'src/areas': /^(zod|decimal\.js|temporal-polyfill|ioredis|node:[a-z/_]+)$/,
  'src/jobs': /^(zod|decimal\.js|temporal-polyfill|ioredis|node:[a-z/_]+)$/,
  console: /^(preact(\/hooks)?|@preact\/signals|uplot(\/.*\.css)?|tokens\.css)$/,
  workers: /^node:/,
};

interface Import {
  target: string;
  isValue: boolean;
}

const files = ['src', 'workers', 'console'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
);

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

const floorOf = (path: string): string | undefined => Object.keys(MAY_IMPORT).find((floor) => isWithin(path, floor));

const IMPORT = /^(?:import|export)(\s+type)?\s([^;]*?)from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function importsOf(path: string): Import[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, type, names = '', from, bare, late]) => ({
    target: (from ?? bare ?? late)!,
    isValue: type === undefined && !/^\{\s*(type \w+,?\s*)+\}\s*$/.test(names),
  }));
}

const inProject = (path: string): Import[] =>
  importsOf(path)
    .filter(({ target }) => target.startsWith('.'))
    .map(({ target, isValue }) => ({ target: relative(root, resolve(root, dirname(path), target)), isValue }));

test('every folder of src/areas has its place in the order of areas', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(readdirSync(join(root, 'src/areas')).sort()).toEqual([...AREAS].sort());
});

test.each(files)('%s imports only what its floor may', (path) => {
  const floor = floorOf(path);
  expect(floor, `${path} belongs to no floor`).toBeDefined();
  const forbidden = inProject(path)
    .map(({ target }) => target)
    .filter((target) => !MAY_IMPORT[floor!]!.some((allowed) => isWithin(target, allowed)));
  expect(forbidden).toEqual([]);
});

test.each(files)('%s uses only libraries that its floor may use', (path) => {
  const may = MAY_USE[Object.keys(MAY_USE).find((floor) => isWithin(path, floor)) ?? ''];
  const libraries = importsOf(path).filter(({ target }) => !target.startsWith('.'));
  expect(libraries.filter(({ target }) => may !== undefined && !may.test(target))).toEqual([]);
});

test.each(AREAS)('no two folders of %s import each other', (area) => {
  const folders = new Map<string, Set<string>>();
  const folderOf = (path: string) => path.split('/')[3]!;
  for (const path of files.filter((path) => isWithin(path, `src/areas/${area}`)))
    for (const { target, isValue } of inProject(path))
      if (isValue && isWithin(target, `src/areas/${area}`) && folderOf(target) !== folderOf(path))
        folders.set(folderOf(path), (folders.get(folderOf(path)) ?? new Set()).add(folderOf(target)));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(folders.get(from) ?? [])].some(
      (next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))),
    );
  const circles = [...folders.keys()].filter((folder) => reaches(folder, folder)).map((folder) => `${area}/${folder}`);
  expect(circles).toEqual([]);
});

const OF_BUSINESS = files.filter((path) => /^src\/(engine|areas|jobs)\//.test(path));

test.each(OF_BUSINESS)('%s takes its time as an input', (path) => {
  expect(readFileSync(join(root, path), 'utf8')).not.toMatch(/\bDate\.now\(\)|new Date\(\)|Temporal\.Now/);
});

test.each(OF_BUSINESS)('%s keeps money away from binary floats', (path) => {
  expect(readFileSync(join(root, path), 'utf8')).not.toMatch(/\bparseFloat\(|\bMath\.round\(/);
});

test('every announcement is made somewhere and has its row in the table of reactions', () => {
  const text = readFileSync(join(root, 'src/reactions.ts'), 'utf8');
  for (const area of AREAS) {
    const path = `src/areas/${area}/announcements.ts`;
    if (!files.includes(path)) continue;
    const names = [...readFileSync(join(root, path), 'utf8').matchAll(/^export const (\w+) = announcement</gm)];
    expect(names.length, path).toBeGreaterThan(0);
    for (const [, name] of names) {
      const isMade = files.some((file) => readFileSync(join(root, file), 'utf8').includes(`announce(ctx, ${name}, `));
      expect({ name, isMade, hasRow: text.includes(`${area}.${name}`) }).toEqual({ name, isMade: true, hasRow: true });
    }
  }
});

/** Two parameters where one scope belongs; a column in place of the organization's id is another thing. */
const SEPARATE = /\(\s*\w+: (?:Db|Tx|Sql)\b[^(){}]*\borganizationId\??: (?:OrganizationId|string)\b/;

test.each(files)('no function of %s takes a connection and an organization apart', (path) => {
  expect(SEPARATE.exec(readFileSync(join(root, path), 'utf8'))?.[0]).toBeUndefined();
});

/**
 * Names of payment providers: only their folders in platform/payments know them, the rest reads the table of types.
 * `sandbox` and `custom` are ordinary words too, so they count only where a connection's type is compared with them.
 */
const PROVIDER_NAME =
  /'(stripe|gocardless|adyen|cashfree|flutterwave|moneyhash)'|(provider_?type|emulates)\W{1,12}'(sandbox|custom)'/i;
/** Examples of the description show requests as clients send them, with the names of the published interface. */
const SHOWS_REQUESTS = /^src\/ingress\/body-examples\//;
const OF_ONE_PROVIDER = /^src\/platform\/payments\/[a-z]+\//;

test.each(files.filter((path) => !OF_ONE_PROVIDER.test(path) && !SHOWS_REQUESTS.test(path)))(
  '%s names no payment provider',
  (path) => {
    expect(PROVIDER_NAME.exec(readFileSync(join(root, path), 'utf8'))?.[0]).toBeUndefined();
  },
);

/** The double of sandboxes is no driver: steps of the areas run it, which need to know how it behaves. */
const RUNS_THE_DOUBLE = 'src/platform/payments/sandbox/behaviour.ts';

test.each(files.filter((path) => !path.startsWith('src/platform/payments/')))(
  '%s reaches payment providers through the table of their types',
  (path) => {
    const direct = inProject(path).filter(({ target }) => OF_ONE_PROVIDER.test(target) && target !== RUNS_THE_DOUBLE);
    expect(direct.map(({ target }) => target)).toEqual([]);
  },
);

/** Files whose ids are those of a provider, that know no records, or that may not import the types of ids. */
const FOREIGN_IDS = /^(console|src\/(engine|platform\/(payments|secrets|services|keys|vat-numbers|mail)))\//;

const NOUNS_WITH_IDS = [
  ...readFileSync(join(root, 'src/platform/ids.ts'), 'utf8').matchAll(/^export type (\w+)Id = Id</gm),
].map(([, noun]) => noun!);
const inSnakeCase = (noun: string) => noun.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
const NAMES_OF_IDS = NOUNS_WITH_IDS.flatMap((noun) => [
  `${noun[0]!.toLowerCase()}${noun.slice(1)}Id`,
  `${inSnakeCase(noun)}_id`,
]);
const PLAIN_ID = new RegExp(`\\b(${NAMES_OF_IDS.join('|')})s?\\??: (readonly )?string\\b`, 'g');
const PLAIN_ROW = new RegExp(`interface (${NOUNS_WITH_IDS.join('|')})Row\\b[^{]*\\{[^}]*?\\n  id: string\\b`, 'g');

test.each(files.filter((path) => !FOREIGN_IDS.test(path)))('%s types the ids of records by their noun', (path) => {
  const text = readFileSync(join(root, path), 'utf8');
  expect([...text.matchAll(PLAIN_ID), ...text.matchAll(PLAIN_ROW)].map(([found]) => found)).toEqual([]);
});

test('there are nouns whose ids are typed', () => {
  expect(NOUNS_WITH_IDS.length).toBeGreaterThan(40);
});

/** What starts the built program, or servers beside those of the run. */
const STARTS = [
  'src/platform/services/discover.ts',
  'test/support/build-once.ts',
  'test/support/launcher.ts',
  'test/scale/support/server.ts',
];

test('a test that starts programs or servers says so in its name, so that it runs with the proofs', () => {
  const named = /\.proof\.test\.ts$|^test\/(proof|scale)\/|^test\/deployment\.test\.ts$/;
  const starting = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .filter((path) => inProject(path).some(({ target, isValue }) => isValue && STARTS.includes(target)));
  expect(starting.length).toBeGreaterThan(10);
  expect(starting.filter((path) => !named.test(path))).toEqual([]);
});

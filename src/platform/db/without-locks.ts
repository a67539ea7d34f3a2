import type { Tx } from './connect.ts';

// Lock clauses as queries write them: `for no key update of customer`, `for update`. Those with `skip locked` wait for
// none.
const ROW_LOCK = /\bfor (?:no key update|update|key share|share)\b(?: of [a-z_]+)?(\s+skip locked)?/g;
// A function without effect replaces one that waits, and a comparison that is true replaces one that tries a lock.
const ADVISORY_LOCK = /\bpg_advisory_xact_lock(?:_shared)?\(/g;
const ADVISORY_TRIAL = /\bpg_try_advisory_xact_lock(?:_shared)?\(/g;

/** Texts of a template without its locks, the same array each time, because the driver caches templates by it. */
const unlocked = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/**
 * A transaction whose queries lock no row that they read and take no advisory lock: for previews, which run the code of
 * commands. The same holds for its savepoints.
 */
export function withoutLocks(tx: Tx): Tx {
  return new Proxy(tx, {
    apply: (target, self, [first, ...rest]: [unknown, ...unknown[]]) =>
      Reflect.apply(target, self, [isTemplate(first) ? withoutLocksOf(first) : first, ...rest]),
    get: (target, name) =>
      name === 'savepoint'
        ? (work: (inner: Tx) => Promise<unknown>) => target.savepoint((inner) => work(withoutLocks(inner as Tx)))
        : Reflect.get(target, name),
  });
}

const isTemplate = (value: unknown): value is TemplateStringsArray => Array.isArray(value) && 'raw' in value;

function withoutLocksOf(template: TemplateStringsArray): TemplateStringsArray {
  const known = unlocked.get(template);
  if (known) return known;
  const texts = template.map(unlockedText);
  const made = Object.assign(texts, { raw: texts });
  unlocked.set(template, made);
  return made;
}

const unlockedText = (text: string): string =>
  text
    .replace(ROW_LOCK, (lock, skips) => (skips ? lock : ''))
    .replace(ADVISORY_LOCK, 'pg_typeof(')
    .replace(ADVISORY_TRIAL, '(null is distinct from ');

import type { Tx } from './connect.ts';

// As queries write them: `for no key update of customer`, `for update`, `for share`. What skips locked rows waits for none.
const ROW_LOCK = /\bfor (?:no key update|update|key share|share)\b(?: of [a-z_]+)?(\s+skip locked)?/g;

/** Texts of one template without its locks: the same array each time, since the driver knows templates by it. */
const unlocked = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/**
 * A transaction whose queries lock no row that they read: for what is only imagined, by code that locks what it changes
 * when it is meant. Savepoints of it are alike.
 */
export function withoutRowLocks(tx: Tx): Tx {
  return new Proxy(tx, {
    apply: (target, self, [first, ...rest]: [unknown, ...unknown[]]) =>
      Reflect.apply(target, self, [isTemplate(first) ? withoutLocks(first) : first, ...rest]),
    get: (target, name) =>
      name === 'savepoint'
        ? (work: (inner: Tx) => Promise<unknown>) => target.savepoint((inner) => work(withoutRowLocks(inner as Tx)))
        : Reflect.get(target, name),
  });
}

const isTemplate = (value: unknown): value is TemplateStringsArray => Array.isArray(value) && 'raw' in value;

function withoutLocks(template: TemplateStringsArray): TemplateStringsArray {
  const known = unlocked.get(template);
  if (known) return known;
  const texts = template.map((text) => text.replace(ROW_LOCK, (lock, skips) => (skips ? lock : '')));
  const made = Object.assign(texts, { raw: texts });
  unlocked.set(template, made);
  return made;
}

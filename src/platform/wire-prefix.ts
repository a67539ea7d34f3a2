/** Prefix of identifiers inside the house; what travels carries the setting `WIRE_PREFIX` instead (README decision 3). */
const INSIDE = 'svc';

/** The only enumeration whose values carry the prefix: `execute_in_svc`. */
const PREFIXED_ENUM = 'execution_mode';
const PREFIXED_VALUE = 'execute_in_';

/**
 * Maps whose keys are names that customers chose (event properties, filter values, groups, metadata, feature codes) or
 * that belong to another system: an object under these keys is left as it is. Lists under them are of our own making.
 */
const FOREIGN_MAPS = new Set([
  'properties',
  'values',
  'filters',
  'grouped_by',
  'presentation_by',
  'metadata',
  'entitlements',
  'overrides',
  'privileges',
  'provider_error',
  'next_action',
]);

/** JSON or a query as the wire shows it: `svc_id` → `<prefix>_id`, at every depth. */
export const toWire = (value: unknown, prefix: string): unknown =>
  prefix === INSIDE ? value : renamed(value, INSIDE, prefix);

/** JSON or a query from the wire as the house knows it: `<prefix>_id` → `svc_id`, at every depth. */
export const fromWire = (value: unknown, prefix: string): unknown =>
  prefix === INSIDE ? value : renamed(value, prefix, INSIDE);

/** `X-Svc-Signature` → `X-Lago-Signature` for the prefix `lago`. Names without the prefix stay. */
export const headerName = (name: string, prefix: string): string =>
  prefix === INSIDE || !/^x-svc-/i.test(name)
    ? name
    : `X-${prefix.charAt(0).toUpperCase()}${prefix.slice(1)}-${name.slice('X-Svc-'.length)}`;

/** A text about the interface, in which every name of the house's form is meant: `svc_id`, `execute_in_svc`, `X-Svc-Explain`. */
export const documentationInWire = (text: string, prefix: string): string =>
  text
    .replace(/\bsvc_/g, `${prefix}_`)
    .replace(/\bexecute_in_svc\b/g, `${PREFIXED_VALUE}${prefix}`)
    .replace(/\bX-Svc-[A-Za-z-]+/g, (name) => headerName(name, prefix));

function renamed(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, from, to));
  if (!isPlainObject(value)) return value;
  // fromEntries and not assignment: a key `__proto__` stays an ordinary key.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (FOREIGN_MAPS.has(key) && isPlainObject(inner)) return [key, inner];
      if (key === PREFIXED_ENUM) return [key, renamedMode(inner, from, to)];
      return [key.startsWith(`${from}_`) ? to + key.slice(from.length) : key, renamed(inner, from, to)];
    }),
  );
}

function renamedMode(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamedMode(each, from, to));
  return value === PREFIXED_VALUE + from ? PREFIXED_VALUE + to : value;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Prefix of identifiers inside the service; transmitted ones have the setting `WIRE_PREFIX` instead
 * (everywhere.md#wire-prefix).
 */
const INSIDE = 'svc';

/** How names begin that streams know: headers of messages, groups of consumers. */
const STREAM_INSIDE = `${INSIDE}-`;

/** The only enumeration whose values carry the prefix: `execute_in_svc`. */
const PREFIXED_ENUM = 'execution_mode';
const PREFIXED_VALUE = 'execute_in_';

/** Codes of generated taxes, wherever a code appears: `svc_eu_reverse_charge`. */
const GENERATED = '_eu_(?:reverse_charge|tax_exempt|[a-z]{2}_(?:standard|exception_[\\w-]+))';
const GENERATED_CODE = new RegExp(`^([a-z][a-z0-9]*)(${GENERATED})$`);
const GENERATED_CELL = new RegExp(`(?<=^|,)${INSIDE}(${GENERATED})(?=,|\r|$)`, 'gm');
const CODE_KEY = /(?:^|_)codes?$/;

/** A number that clients published for another prefix read as a text (everywhere.md#dialects). */
const TEXT_ELSEWHERE = 'percentage_rate';
/** JSON texts that those clients read as objects: contents of the API log (everywhere.md#dialects). */
const OBJECTS_ELSEWHERE = new Set(['request_body', 'request_response']);

/**
 * Maps whose keys are names that customers chose (event properties, filter values, groups, metadata, feature codes) or
 * that belong to another system: an object under these keys is not translated. Lists under them are our own.
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

/**
 * JSON for the wire: `svc_id` → `<prefix>_id` and generated codes likewise, at every depth, and in the forms that
 * clients published for that prefix read. With the prefix `svc` it is the value itself.
 */
export const toWire = (value: unknown, prefix: string): unknown =>
  prefix === INSIDE ? value : renamed(value, { from: INSIDE, to: prefix, form: formElsewhere });

/** JSON, a query or path parameters in internal form: `<prefix>_id` → `svc_id`, at every depth. */
export const fromWire = (value: unknown, prefix: string): unknown =>
  prefix === INSIDE ? value : renamed(value, { from: prefix, to: INSIDE, form: (_key, inner) => inner });

/** Lines of CSV whose cells may be generated codes. */
export const csvInWire = (lines: string, prefix: string): string =>
  prefix === INSIDE ? lines : lines.replace(GENERATED_CELL, `${prefix}$1`);

/** `X-Svc-Signature` → `X-Lago-Signature` for the prefix `lago`. Names without the prefix stay. */
export const headerName = (name: string, prefix: string): string =>
  prefix === INSIDE || !/^x-svc-/i.test(name)
    ? name
    : `X-${prefix.charAt(0).toUpperCase()}${prefix.slice(1)}-${name.slice('X-Svc-'.length)}`;

/** A name that streams know of the service: `svc-ingest` → `lago-ingest` for the prefix `lago`. */
export const streamName = (name: string, prefix: string): string =>
  name.startsWith(STREAM_INSIDE) ? `${prefix}-${name.slice(STREAM_INSIDE.length)}` : name;

/**
 * Headers of a message in internal form, by names in lower case: `lago-organization-id` → `svc-organization-id` for the
 * prefix `lago`, for which a header `svc-…` is none of ours. With the prefix `svc` they are the value itself.
 */
export function messageHeadersFromWire(
  headers: Readonly<Record<string, string>>,
  prefix: string,
): Readonly<Record<string, string>> {
  if (prefix === INSIDE) return headers;
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !name.startsWith(STREAM_INSIDE))
      .map(([name, value]) => [
        name.startsWith(`${prefix}-`) ? STREAM_INSIDE + name.slice(prefix.length + 1) : name,
        value,
      ]),
  );
}

/**
 * Translates a text about the interface, in which every internal name is meant: `svc_id`, `execute_in_svc`,
 * `X-Svc-Explain`, `svc-organization-id`.
 */
export const documentationInWire = (text: string, prefix: string): string =>
  text
    .replace(/\bsvc_/g, `${prefix}_`)
    .replace(/\bexecute_in_svc\b/g, `${PREFIXED_VALUE}${prefix}`)
    .replace(/\bX-Svc-[A-Za-z-]+/g, (name) => headerName(name, prefix))
    .replace(/\bsvc-(?:organization-id|ingest)\b/g, (name) => streamName(name, prefix));

/** Error places, in which our names and values are inside texts. */
const PLACES = 'error_places';
/** Up to the first name below a map of names that customers chose. */
const OWN_NAMES = new RegExp(`^.*?(?:(?:^|\\.)(?:${[...FOREIGN_MAPS].join('|')})(?=[.[])|$)`);

/** `svc_id` in the path of an error, and the one listed value that carries the prefix. */
function renamedPlace(place: unknown, { from, to }: Direction): unknown {
  if (!isPlainObject(place)) return place;
  const { path, allowed } = place as { path?: unknown; allowed?: unknown };
  const renamedNames = (own: string) => own.replaceAll(new RegExp(`(?<=^|\\.)${from}_`, 'g'), `${to}_`);
  return {
    ...place,
    ...(typeof path === 'string' ? { path: path.replace(OWN_NAMES, renamedNames) } : {}),
    ...(Array.isArray(allowed) ? { allowed: renamedMode(allowed, from, to) } : {}),
  };
}

interface Direction {
  from: string;
  to: string;
  /** The value of a key in the form that this side reads. */
  form: (key: string, value: unknown) => unknown;
}

function renamed(value: unknown, direction: Direction): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, direction));
  if (!isPlainObject(value)) return value;
  const { from, to, form } = direction;
  // fromEntries and not assignment: a key `__proto__` stays an ordinary key.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (FOREIGN_MAPS.has(key) && isPlainObject(inner)) return [key, inner];
      if (key === PLACES && Array.isArray(inner)) return [key, inner.map((place) => renamedPlace(place, direction))];
      if (key === PREFIXED_ENUM) return [key, renamedMode(inner, from, to)];
      if (CODE_KEY.test(key) && !isPlainObject(inner)) return [key, renamedCode(inner, direction)];
      const name = key.startsWith(`${from}_`) ? to + key.slice(from.length) : key;
      return [name, form(key, renamed(inner, direction))];
    }),
  );
}

function renamedMode(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamedMode(each, from, to));
  return value === PREFIXED_VALUE + from ? PREFIXED_VALUE + to : value;
}

function renamedCode(value: unknown, direction: Direction): unknown {
  if (Array.isArray(value)) return value.map((each) => renamedCode(each, direction));
  if (typeof value !== 'string') return renamed(value, direction);
  const [, prefix, rest] = GENERATED_CODE.exec(value) ?? [];
  return prefix === direction.from ? direction.to + rest : value;
}

function formElsewhere(key: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (key === TEXT_ELSEWHERE) return String(value);
  return OBJECTS_ELSEWHERE.has(key) && typeof value === 'string' ? objectOf(value) : value;
}

/** The object in a JSON text; malformed or cut text is put under `text`. */
function objectOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isPlainObject(value)) return value;
  } catch {
    // Bodies beyond 64 KiB end with "[TRUNCATED]".
  }
  return { text };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

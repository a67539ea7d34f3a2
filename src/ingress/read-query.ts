import { isStorable } from '../platform/schema/storable.ts';
export type Query = Record<string, unknown>;

// A filter with a text that Postgres cannot store matches nothing (json.md); this replacement is never stored either
// and may be sent.
const MATCHES_NOTHING = '\u{10fffe}\u{10ffff}';
const NESTED = /^([^[\]]+)\[([^[\]]*)\](\[\])?$/;

/**
 * Query of a URL: `name[]=a&name[]=b` and repeated names become arrays, `name[key]=value` an object under `name`. Keys
 * are taken as written; blank names are dropped.
 */
export function readQuery(url: string): Query {
  const start = url.indexOf('?');
  const query: Query = Object.create(null) as Query;
  if (start === -1) return query;
  for (const [name, raw] of new URLSearchParams(url.slice(start + 1))) {
    if (name === '') continue;
    const value = storable(raw);
    const nested = NESTED.exec(name);
    if (!nested) add(query, name, { value, list: false });
    else if (nested[2] === '') add(query, nested[1]!, { value, list: true });
    else {
      const inner = query[nested[1]!];
      const object = isPlain(inner) ? inner : (Object.create(null) as Query);
      query[nested[1]!] = object;
      add(object, storable(nested[2]!), { value, list: nested[3] !== undefined });
    }
  }
  return query;
}

const storable = (text: string): string => (isStorable(text) ? text : MATCHES_NOTHING);

const isPlain = (value: unknown): value is Query =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function add(into: Query, name: string, { value, list }: { value: string; list: boolean }): void {
  const former = into[name];
  if (Array.isArray(former)) former.push(value);
  else if (typeof former === 'string') into[name] = [former, value];
  else into[name] = list ? [value] : value;
}

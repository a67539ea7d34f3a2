import { ID } from '../../src/ingress/body-examples/ids.ts';

const LIST_SHOWN = 1;
const AT = '2030-01-01T00:00:00Z';
const LONG_TEXT = 160;

/** An answer as pages show it: the same at every run, short, and without anything that could be taken for a secret. */
export function shownAnswer(body: object): object {
  return shown(body, '') as object;
}

function shown(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.slice(0, LIST_SHOWN).map((each) => shown(each, key));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(inner, name)]));
  return typeof value === 'string' ? shownText(value, key) : value;
}

function shownText(text: string, key: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return ID;
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return AT;
  if (/secret|hmac_key|public_key|digest|token/.test(key)) return '…';
  if (/^https?:/.test(text))
    return text.replace(/^http:\/\/127\.0\.0\.1:\d+/, 'https://billing.example.com').replace(/[\w.~-]{30,}.*$/, '…');
  return text.length > LONG_TEXT ? `${text.slice(0, LONG_TEXT)}…` : text;
}

/** The names of all fields of an answer, without their values, which differ from run to run. */
export function keysOfAnswer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keysOfAnswer);
  if (typeof value !== 'object' || value === null) return '';
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, keysOfAnswer(inner)]));
}

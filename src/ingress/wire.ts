import { parse, stringify } from 'lossless-json';
import { documentationInWire, fromWire, headerName, toWire } from '../platform/wire-prefix.ts';
import type { Query } from './read-query.ts';

interface Outgoing {
  status: number;
  text: string;
  headers?: Record<string, string> | undefined;
  contentType?: string;
}

/** The wire prefix at the edge: what comes in is translated to the house's `svc_`, what goes out to the setting's. */
export interface Wire {
  query(query: Query): Query;
  body(body: unknown): unknown;
  answer(answer: Outgoing): Outgoing;
  /** A text about the interface: names in it are translated wherever they stand. */
  documentation(text: string): string;
}

/** With the prefix `svc` everything passes untouched, with another one numbers keep the digits they have (README decision 3). */
export function createWire(prefix: string): Wire {
  if (prefix === 'svc') {
    const same = <Value>(value: Value): Value => value;
    return { query: same, body: same, answer: same, documentation: same };
  }
  return {
    query: (query) => fromWire(query, prefix) as Query,
    body: (body) => fromWire(body, prefix),
    answer: (answer) => ({
      ...answer,
      text: answer.text === '' || answer.contentType ? answer.text : stringify(toWire(parse(answer.text), prefix))!,
      headers: Object.fromEntries(
        Object.entries(answer.headers ?? {}).map(([name, value]) => [headerName(name, prefix), value]),
      ),
    }),
    documentation: (text) => documentationInWire(text, prefix),
  };
}

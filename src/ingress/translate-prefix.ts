import { parse, stringify } from 'lossless-json';
import { csvInWire, documentationInWire, fromWire, headerName, toWire } from '../platform/wire-prefix.ts';
import type { Query } from './read-query.ts';

interface Outgoing {
  status: number;
  text: string;
  headers?: Record<string, string> | undefined;
  contentType?: string;
}

/** Translates the wire prefix: input to the internal `svc_`, output to the configured prefix. */
export interface Wire {
  query(query: Query): Query;
  body(body: unknown): unknown;
  /** Parameters of a path. */
  params(params: Record<string, string>): Record<string, string>;
  /** Parameters of a path as they are logged, beside those of query and body as sent. */
  sentParams(params: Record<string, string>): Record<string, string>;
  answer(answer: Outgoing): Outgoing;
  /** Lines of CSV, piece by piece. */
  stream(pieces: AsyncIterable<string>): AsyncIterable<string>;
  /** A text about the interface, in which names are translated everywhere. */
  documentation(text: string): string;
}

/**
 * With the prefix `svc` everything passes unchanged; with another prefix numbers keep their digits
 * (everywhere.md#wire-prefix).
 */
export function createWire(prefix: string): Wire {
  if (prefix === 'svc') {
    const same = <Value>(value: Value): Value => value;
    return { query: same, body: same, params: same, sentParams: same, answer: same, stream: same, documentation: same };
  }
  /** An answer may go to several callers. */
  const translated = new WeakMap<Outgoing, Outgoing>();
  const translate = (answer: Outgoing): Outgoing => ({
    ...answer,
    text: answer.text === '' || answer.contentType ? answer.text : stringify(toWire(parse(answer.text), prefix))!,
    headers: Object.fromEntries(
      Object.entries(answer.headers ?? {}).map(([name, value]) => [headerName(name, prefix), value]),
    ),
  });
  return {
    query: (query) => fromWire(query, prefix) as Query,
    body: (body) => fromWire(body, prefix),
    params: (params) => fromWire(params, prefix) as Record<string, string>,
    sentParams: (params) => toWire(params, prefix) as Record<string, string>,
    answer(answer) {
      const known = translated.get(answer) ?? translate(answer);
      translated.set(answer, known);
      return known;
    },
    async *stream(pieces) {
      for await (const lines of pieces) yield csvInWire(lines, prefix);
    },
    documentation: (text) => documentationInWire(text, prefix),
  };
}

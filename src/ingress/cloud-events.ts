import type { IncomingHttpHeaders } from 'node:http';
import type { Operation } from '../platform/operation.ts';
import { refuse } from '../platform/refusal.ts';

/** How CloudEvents come: one as a JSON object, a list of such, or one whose attributes are headers. */
export type CloudMode = 'structured' | 'batch' | 'binary';

const STRUCTURED_TYPE = /^application\/cloudevents(-batch)?\+json\s*(?:;|$)/i;
const PREFIX = 'ce-';
const PRINTABLE = /^[\x20-\x7e]*$/;
const QUOTED = /^"(?:[^"\\]|\\.)*"$/;
/** Stands for a header that cannot be read: refused like a text that cannot be stored. */
const UNREADABLE = '\0';

/** The mode of a request by its headers; undefined for any other body. Rule: cloud-events.md#modes. */
export function cloudModeOf(headers: IncomingHttpHeaders): CloudMode | undefined {
  const structured = STRUCTURED_TYPE.exec(headers['content-type'] ?? '');
  if (structured) return structured[1] === undefined ? 'structured' : 'batch';
  return headers['ce-specversion'] === undefined ? undefined : 'binary';
}

/** The operation with the body that it takes in this mode. @throws Refusal 415 if it takes no such body */
export function inCloudMode(operation: Operation, mode: CloudMode): Operation {
  const { cloudEvents } = operation;
  if (!cloudEvents) return operation;
  if (cloudEvents.isList !== (mode === 'batch')) throw refuse.unsupportedMediaType();
  return { ...operation, body: cloudEvents.body };
}

/** Names before those of a value's path in errors of its JSON text. */
export const pathBefore = (mode: CloudMode): readonly string[] => (mode === 'binary' ? ['data'] : []);

/**
 * The JSON form of an event in binary mode: attributes of the headers `ce-…`, data of the body. A header that is there
 * twice, is not printable ASCII or is wrongly percent-encoded cannot be read.
 *
 * headers  names and values by turns, as they were received
 * Rule: cloud-events.md#binary-mode.
 */
export function envelopeOf(headers: readonly string[], data: unknown): object {
  const attributes = new Map<string, unknown>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (!name.startsWith(PREFIX)) continue;
    const attribute = name.slice(PREFIX.length);
    attributes.set(attribute, attributes.has(attribute) ? UNREADABLE : decoded(headers[at + 1]!));
  }
  return Object.fromEntries(attributes.set('data', data));
}

function decoded(header: string): string {
  if (!PRINTABLE.test(header)) return UNREADABLE;
  const text = QUOTED.test(header) ? header.slice(1, -1).replace(/\\(.)/g, '$1') : header;
  try {
    return decodeURIComponent(text);
  } catch {
    return UNREADABLE; // no two hexadecimal digits behind a %, or bytes that are no UTF-8
  }
}

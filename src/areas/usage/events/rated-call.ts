import { assert } from '../../../engine/assert.ts';
import { canonicalText } from './property-json.ts';

/**
 * What rating wrote into a call that kept its names: the members of its properties that begin with `ai_`, as canonical
 * JSON text without braces, and its amount in cents.
 */
export type RatedCall = [members: string, amountCents: string | null];

/** The member that each call has from its door; its text is no part of any other, since JSON escapes quotes. */
const FORMAT = '"ai_format":"';
const FLAGS = '"ai_flags":"';

/**
 * The properties of a call as they are stored: those from its door with what rating wrote in the place of the door's
 * own members that begin with `ai_`. These stand side by side, since keys are sorted and none of them may be sent, so
 * only that part is exchanged.
 *
 *   {"agent":"a","ai_format":"canonical/1","calls":"1"}, "ai_book":"3.1","ai_format":"canonical/1" →
 *   {"agent":"a","ai_book":"3.1","ai_format":"canonical/1","calls":"1"}
 *
 * properties  canonical JSON text of an object, as a door makes it
 */
export function withRating(properties: string, members: string): string {
  const format = properties.indexOf(FORMAT);
  assert(format >= 0, 'a call has the format of its door');
  const to = properties.indexOf('"', format + FORMAT.length) + 1;
  const flags = properties.lastIndexOf(FLAGS, format);
  return properties.slice(0, flags < 0 ? format : flags) + members + properties.slice(to);
}

/** Canonical JSON text of members, without braces. */
export const membersOf = (members: Readonly<Record<string, unknown>>): string => canonicalText(members).slice(1, -1);

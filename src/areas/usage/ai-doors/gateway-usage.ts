import { INSTANT_MAX } from '../../../platform/schema/sizes.ts';
import { microsOf } from '../events/iso-time.ts';
import { memberOf } from '../events/read-request.ts';
import { listOf, type SentItem } from './read-usage.ts';
import type { Subject, SubjectKind } from './subjects.ts';
import { isKey } from './usage-item.ts';

/** Payloads of one request. */
const MOST_PAYLOADS = 1000;
/** How many tags of a payload may name a subject. */
const MOST_TAGS = 20;
/** A time as Python writes it: a blank for the T, and without a zone it is UTC. */
const PYTHON_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;

/** Where a payload, or a row of the gateway's spend log, names subjects; `metadata.` is its metadata. */
const SUBJECT_FIELDS: readonly [SubjectKind, string][] = [
  ['key', 'metadata.user_api_key_hash'],
  ['key', 'metadata.user_api_key_alias'],
  ['key', 'api_key'],
  ['end_user', 'end_user'],
  ['end_user', 'metadata.user_api_key_end_user_id'],
  ['user', 'metadata.user_api_key_user_id'],
  ['user', 'user'],
  ['team', 'metadata.user_api_key_team_id'],
  ['team', 'metadata.user_api_key_team_alias'],
  ['team', 'team_id'],
  ['organization', 'metadata.user_api_key_org_id'],
  ['organization', 'organization_id'],
];
/** Properties of the event by the fields that give them; the first text counts. */
const PROPERTY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  user: ['metadata.user_api_key_user_id', 'user'],
  team: ['metadata.user_api_key_team_alias', 'metadata.user_api_key_team_id', 'team_id'],
  api_key: ['metadata.user_api_key_alias', 'metadata.user_api_key_hash', 'api_key'],
};
/** What the caller of the gateway may say itself, which wins. */
const REQUESTER_PROPERTIES = ['agent', 'user', 'team', 'api_key', 'session', 'feature'];

/**
 * Calls that a LiteLLM gateway logged: a list of its payloads, one of them, or the texts of their lines. Rule:
 * ai-usage.md#litellm.
 *
 * @throws Refusal 422 ai_usages: no_events, too_many_events
 */
export function gatewayItems(body: unknown): SentItem[] {
  const sent = Array.isArray(body) ? body : body === undefined ? [] : [body];
  return listOf('ai_usages', sent, MOST_PAYLOADS).map(payloadItem);
}

/** An item of what is no payload, such as a broken line. */
export const refusedItem = (field: string, code: string): SentItem => ({
  sent: undefined,
  subjects: [],
  records: [],
  refused: { transaction_id: null, errors: { [field]: [code] } },
});

function payloadItem(payload: unknown): SentItem {
  if (payload instanceof BrokenLine) return refusedItem('line', payload.code);
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return refusedItem('body', 'value_is_invalid');
  const metadata = memberOf(payload, 'metadata');
  const requester = memberOf(metadata, 'requester_metadata');
  const timestamp = secondsOf(memberOf(payload, 'endTime') ?? memberOf(payload, 'startTime'));
  return {
    sent: { format: 'litellm', body: payload, timestamp, properties: propertiesOf(payload, requester) },
    subjects: subjectsOf(payload),
    records: [requester, metadata],
  };
}

/** Stands for a line that could not be read. */
export class BrokenLine {
  readonly code: string;

  constructor(code: string) {
    this.code = code;
  }
}

function textAt(payload: object, path: string): string | undefined {
  const [first, second] = path.split('.') as [string, string?];
  const value = memberOf(payload, first);
  const found = second === undefined ? value : memberOf(value, second);
  return isKey(found) ? found : undefined;
}

function subjectsOf(payload: object): Subject[] {
  const named = SUBJECT_FIELDS.flatMap(([kind, path]) => {
    const value = textAt(payload, path);
    return value === undefined ? [] : [{ kind, value }];
  });
  const tags = memberOf(payload, 'request_tags');
  const texts = Array.isArray(tags) ? tags.slice(0, MOST_TAGS) : [];
  return [...named, ...texts.flatMap((value) => (isKey(value) ? [{ kind: 'tag' as const, value }] : []))];
}

function propertiesOf(payload: object, requester: unknown): Record<string, unknown> {
  const properties: Record<string, unknown> = {};
  for (const [name, paths] of Object.entries(PROPERTY_FIELDS))
    for (const path of paths) properties[name] ??= textAt(payload, path) ?? null;
  for (const name of REQUESTER_PROPERTIES) {
    const value = memberOf(requester, name);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') properties[name] = value;
  }
  return properties;
}

/** Seconds as the gateway sends them, or those of a time that its spend log has; anything else as it is. */
function secondsOf(time: unknown): unknown {
  const found = typeof time === 'string' && time.length <= INSTANT_MAX ? PYTHON_TIME.exec(time) : null;
  const micros = found ? microsOf(`${found[1]}T${found[2]}`, found[3] ?? '', found[4] ?? 'Z') : undefined;
  return micros === undefined ? time : `${micros}e-6`;
}

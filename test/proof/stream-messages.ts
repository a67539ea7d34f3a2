/** Messages of a producer that is not careful, and what must become of them. */
export interface Messages {
  texts: string[];
  /** Transaction ids of the valid ones. */
  valid: Set<string>;
  /** How many dead letters there are of each code. */
  dead: Record<string, number>;
}

const POISON_EVERY = 100;
const DUPLICATE_EVERY = 20;

/**
 * So many messages, of which one in a hundred is poison and one in twenty comes twice.
 *
 * from  number of the first one
 */
export function messagesFrom(from: number, count: number, organizationId: string): Messages {
  const messages: Messages = { texts: [], valid: new Set(), dead: {} };
  for (let number = from; messages.texts.length < count; number += 1) {
    if (number % POISON_EVERY === 7) addPoison(messages, number);
    else addValid(messages, number, organizationId);
  }
  return messages;
}

function addValid({ texts, valid }: Messages, number: number, organizationId: string): void {
  const id = `t${number}`;
  valid.add(id);
  const event = {
    transaction_id: id,
    external_subscription_id: `s${number % 7}`,
    code: 'calls',
    properties: { number },
  };
  const envelopes = [event, { event }, { events: [event] }, { organization_id: organizationId, ...event }];
  const text = JSON.stringify(envelopes[number % envelopes.length]);
  texts.push(text);
  if (number % DUPLICATE_EVERY === 3) texts.push(text);
}

/** Each kind in its turn; the last one is a different event under the key of another. */
function addPoison({ texts, valid, dead }: Messages, number: number): void {
  const event = { transaction_id: `p${number}`, external_subscription_id: 's', code: 'calls' };
  const kinds: [code: string, ...texts: string[]][] = [
    ['invalid_json', `no JSON ${number}`],
    ['value_is_mandatory', JSON.stringify({ ...event, code: '' })],
    ['organization_mismatch', JSON.stringify({ ...event, organization_id: 'another' })],
    ['invalid_timestamp', JSON.stringify({ ...event, timestamp: 'yesterday' })],
    ['invalid_event', JSON.stringify({ events: [], number })],
    ['value_already_exist', JSON.stringify(event), JSON.stringify({ ...event, properties: { other: true } })],
  ];
  const [code, ...sent] = kinds[Math.floor(number / POISON_EVERY) % kinds.length]!;
  texts.push(...sent);
  dead[code!] = (dead[code!] ?? 0) + 1;
  if (sent.length === 2) valid.add(event.transaction_id);
}

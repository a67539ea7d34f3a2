import { own } from '../own.ts';
import type { Format } from './formats/format.ts';
import { providerName, tierName } from './providers.ts';
import { firstText } from './read-path.ts';

const MANDATORY = 'value_is_mandatory';
const FORMAT = 'invalid_format';
const INVALID = 'value_is_invalid';
const TOO_LONG = 'value_is_too_long';

/** Bytes of names that become keys of rows and texts of alerts. */
const NAME_BYTES = { provider: 64, model: 255, tier: 32 } as const;
const PLAIN = /^[ -~]*$/;
const encoder = new TextEncoder();
const UNSTORABLE = /\0|\p{Surrogate}/u;
const STANDARD = 'standard';

export interface CallNames {
  provider: string;
  model: string;
  tier: string;
}

export type Faults = Record<string, string[]>;
type Name = keyof CallNames;

/**
 * Provider, model and tier of a call: as they were sent beside the body, else as the body says, else the format's.
 *
 * format, body  undefined where they are not known, so that only what was sent is checked
 * faults        gets what is wrong
 */
export function namesOf(
  sent: Readonly<Record<Name, unknown>>,
  format: Format | undefined,
  body: unknown,
  faults: Faults,
): CallNames {
  const isFlat = format?.flatPrefix !== undefined;
  const nameOf = (name: Name): string | undefined =>
    nameSent(name, sent[name], faults) ?? nameFound(name, firstText(body, format?.names[name], isFlat), faults);
  const provider = nameOf('provider') ?? format?.provider ?? undefined;
  const model = nameOf('model');
  const tier = tierOf(sent.tier, nameOf('tier'), faults);
  if (format && provider === undefined && !own(faults, 'provider')) faults.provider = [MANDATORY];
  if (format && model === undefined && !own(faults, 'model')) faults.model = [MANDATORY];
  const known = provider === undefined ? '' : providerName(provider);
  return { provider: known, model: withoutProvider(model ?? '', { provider, known, format }), tier };
}

function nameSent(name: Name, value: unknown, faults: Faults): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') faults[name] = [INVALID];
  else return nameFound(name, value.trim() === '' ? undefined : value, faults);
  return undefined;
}

function nameFound(name: Name, text: string | undefined, faults: Faults): string | undefined {
  if (text === undefined || own(faults, name)) return undefined;
  if (PLAIN.test(text)) {
    if (text.length <= NAME_BYTES[name]) return text; // a byte each
    faults[name] = [TOO_LONG];
  } else if (UNSTORABLE.test(text)) faults[name] = [FORMAT];
  else if (encoder.encode(text).length > NAME_BYTES[name]) faults[name] = [TOO_LONG];
  else return text;
  return undefined;
}

/** A tier that was sent must be a word; one of a body that is none means nothing to us. */
function tierOf(sent: unknown, name: string | undefined, faults: Faults): string {
  if (name === undefined) return STANDARD;
  const tier = tierName(name);
  if (tier === undefined && name === sent) faults.tier = [INVALID];
  return tier ?? STANDARD;
}

/** A gateway's name of a model may begin with its provider: `anthropic/beta` → `beta`. */
function withoutProvider(
  model: string,
  { provider, known, format }: { provider: string | undefined; known: string; format: Format | undefined },
): string {
  if (format?.names.provider === undefined || format.flatPrefix !== undefined) return model;
  const prefix = [provider, known].find((each) => each !== undefined && each !== '' && model.startsWith(`${each}/`));
  return prefix === undefined || model.length === prefix.length + 1 ? model : model.slice(prefix.length + 1);
}

import { z } from 'zod';
import { list } from '../../../platform/schema/bounded.ts';
import { boolean, FORMAT, INVALID } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { clearable, resettable, webUrl } from '../../../platform/schema/typed-text.ts';
import { BILLING_DATA_FIELDS, DEFAULT_SETTINGS } from './settings.ts';

/** A page names all origins in one header. */
const ORIGINS_MAX = 10;
/** A name of a host has 253 letters at most. */
const ORIGIN_LETTERS = 300;
/** How many fields may be listed; there are six, each named once or twice. */
const FIELDS_MAX = 20;
const COLOUR_LETTERS = 20;

const URL_IS_INVALID = 'url_is_invalid';

/** The form of an origin whose parts stand in a header: letters of a host name, digits of an IPv6 address, a port. */
const ORIGIN = /^https?:\/\/(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** The origin that a text is, as browsers write it; undefined for anything more or less than an origin. */
function originOf(text: string): string | undefined {
  const given = text.trim().toLowerCase();
  if (!/^https?:\/\/[^/?#@\s\\]+$/.test(given) || !URL.canParse(given)) return undefined;
  const { origin, protocol, hostname } = new URL(given);
  const isAllowed = protocol === 'https:' || hostname === 'localhost';
  return isAllowed && ORIGIN.test(origin) ? origin : undefined;
}

const origin = () =>
  z
    .string(URL_IS_INVALID)
    .max(ORIGIN_LETTERS, URL_IS_INVALID)
    .transform((text, context): string => {
      const read = originOf(text);
      if (read !== undefined) return read;
      context.addIssue({ code: 'custom', message: URL_IS_INVALID });
      return z.NEVER;
    });

const colour = () =>
  z
    .string(FORMAT)
    .max(COLOUR_LETTERS, FORMAT)
    .transform((text) => text.trim().toLowerCase())
    .refine((text) => /^#[0-9a-f]{6}$/.test(text), FORMAT);

const flag = () => boolean().optional();

const Show = z.object({ usage: flag(), projection: flag(), entitlements: flag(), wallets: flag() }, INVALID);

const Allow = z.object(
  { pay: flag(), top_up: flag(), payment_methods: flag(), billing_data: flag(), alerts: flag() },
  INVALID,
);

/** Input of `PUT /billing_entities/{code}/portal`: what is absent stays, null restores the default. */
export const PortalSettingsUpdate = z.object({
  accent_color: resettable(colour(), DEFAULT_SETTINGS.accent_color),
  show: resettable(Show, DEFAULT_SETTINGS.show),
  allow: resettable(Allow, DEFAULT_SETTINGS.allow),
  billing_data_fields: resettable(
    list(z.enum(BILLING_DATA_FIELDS, INVALID), { max: FIELDS_MAX, wrong: INVALID })
      .check(renameErrors(() => []))
      .transform((fields) => [...new Set(fields)]),
    DEFAULT_SETTINGS.billing_data_fields,
  ),
  embed_origins: resettable(
    list(origin(), { max: ORIGINS_MAX, wrong: URL_IS_INVALID, tooMany: 'invalid_count' })
      .check(renameErrors(() => []))
      .transform((origins) => [...new Set(origins)]),
    [],
  ),
  support_url: clearable(webUrl()),
  terms_url: clearable(webUrl()),
  privacy_url: clearable(webUrl()),
  hide_product_name: resettable(boolean(), DEFAULT_SETTINGS.hide_product_name),
});
export type PortalSettingsUpdate = z.output<typeof PortalSettingsUpdate>;

const isOn = z.boolean();

export const PortalSettingsEnvelope = z.object({
  portal: z.object({
    accent_color: z.string(),
    show: z.object({ usage: isOn, projection: isOn, entitlements: isOn, wallets: isOn }),
    allow: z.object({ pay: isOn, top_up: isOn, payment_methods: isOn, billing_data: isOn, alerts: isOn }),
    billing_data_fields: z.array(z.enum(BILLING_DATA_FIELDS)),
    embed_origins: z.array(z.string()),
    support_url: z.string().nullable(),
    terms_url: z.string().nullable(),
    privacy_url: z.string().nullable(),
    hide_product_name: z.boolean(),
  }),
});

import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { isZone } from '../../engine/calendar/local-day.ts';
import { isCountry } from '../../engine/places/countries.ts';
import { DOCUMENT_LANGUAGES } from '../../engine/places/languages.ts';
import { list } from './bounded.ts';
import { cleanText, INVALID, TOO_LONG } from './fields.ts';
import { renameErrors } from './flat-errors.ts';
import { CODES_MAX, LINE_MAX } from './sizes.ts';
import { isStorable } from './storable.ts';

/**
 * Texts with a meaning (json.md): countries, currencies, emails, URLs, locales, time zones. Each takes null or blank as
 * "cleared" and leaves an absent key absent.
 */
const LOCALES: ReadonlySet<string> = new Set(DOCUMENT_LANGUAGES);

// Texts that look like a dash, and invisible characters (zero width, direction marks, soft hyphen, BOM).
const DASHES = /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g;
const INVISIBLE = /[\0\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
const EMAIL = /^[^\s@,;:<>()[\]\\"]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u;

/** How many mail addresses one customer may have; a mail is sent to all of them. */
const EMAILS_MAX = 20;
/** How many characters that many addresses may have, each 320 at most. */
const EMAIL_TEXT_MAX = 7000;
/** How many characters a country or currency code, a locale or a time zone may have, with blanks around them. */
const WORD_MAX = 100;
/** How many characters a web address may have for browsers to accept it. */
const URL_MAX = 2000;

const AnyText = z.string(INVALID).max(LINE_MAX, TOO_LONG).refine(isStorable, INVALID);

const blankToNull = (value: unknown): unknown => (typeof value === 'string' && value.trim() === '' ? null : value);

/** Null or blank clears, an absent key stays absent. */
export const clearable = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(blankToNull, schema.nullable()).optional();

/** Null restores `fallback`, the value of a new record; an absent key stays absent. */
export const resettable = <Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) =>
  z.preprocess((value) => (value === null ? fallback : value), schema).optional();

/** Country code, upper-cased. */
export const country = () =>
  clearable(
    z
      .string('not_a_valid_country_code')
      .max(WORD_MAX, 'not_a_valid_country_code')
      .transform((code) => code.trim().toUpperCase())
      .refine(isCountry, 'not_a_valid_country_code'),
  );

/** A language that documents can be written in. */
export const locale = () =>
  z
    .string('not_a_valid_language_code')
    .max(WORD_MAX, 'not_a_valid_language_code')
    .refine((code) => LOCALES.has(code), 'not_a_valid_language_code')
    .meta({ type: 'string', enum: [...LOCALES] });

/** IANA name of a time zone, in its usual case. */
export const timeZone = () =>
  z
    .string('invalid_timezone')
    .max(WORD_MAX, 'invalid_timezone')
    .refine(isZone, 'invalid_timezone')
    .transform((name) => Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId);

/** Up to 20 addresses separated by commas; look-alike dashes and invisible characters are corrected. */
export const emails = () =>
  clearable(
    z
      .string('invalid_email_format')
      .max(EMAIL_TEXT_MAX, TOO_LONG)
      .transform((text) =>
        text
          .replaceAll(DASHES, '-')
          .replaceAll(INVISIBLE, '')
          .split(',')
          .map((address) => address.trim())
          .join(','),
      )
      .refine(
        (text) => isStorable(text) && text.split(',').every((address) => EMAIL.test(address)),
        'invalid_email_format',
      )
      .refine((text) => text.split(',').length <= EMAILS_MAX, TOO_LONG),
  );

/**
 * Absolute http or https address with a host; line breaks and tabs, which every reader of a URL drops, are left out.
 */
export const webUrl = () =>
  z
    .string('url_is_invalid')
    .max(URL_MAX, 'url_is_invalid')
    .transform((text) => text.trim().replace(/[\t\n\r]/g, ''))
    .refine(isWebUrl, { error: 'url_is_invalid', params: { reason: 'not an http or https URL with a host' } });

/** The six parts of an address; blank ones become null. */
export const addressFields = () => ({
  address_line1: cleanText(),
  address_line2: cleanText(),
  city: cleanText(),
  state: cleanText(),
  zipcode: cleanText(),
  country: country(),
});

/** Array of texts, refused as a whole if one of them is wrong; null empties it. */
export const textList = <Item extends z.ZodType<string>>(item: Item = AnyText as unknown as Item) =>
  resettable(list(item, { max: CODES_MAX }).check(renameErrors(() => [])), []);

function isWebUrl(text: string): boolean {
  return isStorable(text) && /^https?:\/\/[^/?#\s]/i.test(text) && URL.canParse(text) && new URL(text).hostname !== '';
}

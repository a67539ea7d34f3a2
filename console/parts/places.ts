import { CURRENCIES } from '../../src/engine/money/currency.ts';
import { COUNTRIES } from '../../src/engine/places/countries.ts';
import { DOCUMENT_LANGUAGES } from '../../src/engine/places/languages.ts';
import type { Option } from './combobox.tsx';

// Names are in the language of the console's texts. Where the browser knows none it gives the code back.
const LANGUAGE = 'en';

function named(type: 'region' | 'currency' | 'language', codes: readonly string[]): () => readonly Option[] {
  let options: readonly Option[] | undefined;
  return () => {
    if (options) return options;
    const names = new Intl.DisplayNames([LANGUAGE], { type });
    options = codes
      .map((code) => ({ value: code, text: names.of(code) ?? code, note: code }))
      .sort((one, other) => one.text.localeCompare(other.text, LANGUAGE));
    return options;
  };
}

export const countries = named('region', COUNTRIES);
export const currencies = named('currency', CURRENCIES);
export const documentLanguages = named('language', DOCUMENT_LANGUAGES);

/** Zones by the name of their place, with what they are ahead of UTC now: `Europe/Berlin (UTC+1)`. */
export function timeZones(): readonly Option[] {
  zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')].map((zone) => ({
    value: zone,
    text: zone.replaceAll('_', ' '),
    note: zone === 'UTC' ? undefined : offsetOf(zone),
  }));
  return zones;
}
let zones: readonly Option[] | undefined;

function offsetOf(timeZone: string): string | undefined {
  const parts = new Intl.DateTimeFormat(LANGUAGE, { timeZone, timeZoneName: 'shortOffset' }).formatToParts();
  return parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', 'UTC');
}

/** The name of a country; the code where there is none. */
export const countryName = (code: string | null | undefined): string | undefined =>
  code ? (countries().find(({ value }) => value === code)?.text ?? code) : undefined;

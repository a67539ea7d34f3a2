import { type DatedRate, rateOn } from './standard-rates.ts';

/** A part of a country with a rate of its own, known by its postcodes. */
export interface Territory {
  country: string;
  name: string;
  /** The name in the code of its tax. */
  code: string;
  /** Matches a postcode without blanks from its start. */
  postcode: RegExp;
  rates: readonly DatedRate[];
  /** Serves business customers only. */
  isForBusinesses: boolean;
}

const territory = (country: string, name: string, code: string, postcode: RegExp, rate: string): Territory => ({
  country,
  name,
  code,
  postcode,
  rates: [{ from: '2021-03-01', rate }],
  isForBusinesses: country === 'FR',
});

/** Rule: eu-taxes.md "special territories". */
export const EU_TERRITORIES: readonly Territory[] = [
  territory('AT', 'Jungholz', 'jungholz', /^6691/, '19'),
  territory('AT', 'Mittelberg', 'mittelberg', /^699[1-3]/, '19'),
  territory('DE', 'Büsingen am Hochrhein', 'busingen_am_hochrhein', /^78266/, '0'),
  territory('DE', 'Heligoland', 'heligoland', /^27498/, '0'),
  territory('ES', 'Canary Islands', 'canary_islands', /^3[58]\d{3}/, '0'),
  territory('ES', 'Ceuta', 'ceuta', /^510(0[1-5]|7[01]|81)/, '0'),
  territory('ES', 'Melilla', 'melilla', /^520(0[0-6]|7[01]|81)/, '0'),
  territory('FI', 'Aland Islands', 'aland_islands', /^22\d{3}/, '0'),
  territory('FR', 'Guadeloupe', 'guadeloupe', /^971\d{2}/, '8.5'),
  territory('FR', 'Martinique', 'martinique', /^972\d{2}/, '8.5'),
  territory('FR', 'Reunion', 'reunion', /^974\d{2}/, '8.5'),
  territory('FR', 'Guyane', 'guyane', /^973\d{2}/, '0'),
  territory('FR', 'Mayotte', 'mayotte', /^976\d{2}/, '0'),
  territory('GR', 'Mount Athos', 'mount_athos', /^63086/, '0'),
  territory('IT', "Campione d'Italia", 'campione_d_italia', /^22061/, '0'),
  territory('IT', 'Livigno', 'livigno', /^23041/, '0'),
  territory('PT', 'Madeira', 'madeira', /^9[0-4]\d{2}/, '22'),
  territory('PT', 'Azores', 'azores', /^9[5-9]\d{2}/, '18'),
];

/** The territory of a postcode in a country. */
export const territoryOf = (country: string, postcode: string | null): Territory | undefined =>
  EU_TERRITORIES.find((each) => each.country === country && each.postcode.test((postcode ?? '').replaceAll(/\s/g, '')));

export const territoryRateOn = ({ rates }: Territory, day: string): string => rateOn(rates, day);

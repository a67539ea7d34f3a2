import { formatAddress } from 'localized-address-format';

export interface PostalAddress {
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  zipcode: string | null;
  /** ISO 3166-1. */
  country: string | null;
}

/** Stands for an unknown country: most write the code before the city. */
const USUAL = 'FR';

/**
 * The lines of an address as its country's post wants them, without the country and without what is empty. A part that
 * this post does without stands below, so that nothing that was entered is lost.
 */
export function postalLines({ address_line1, address_line2, city, state, zipcode, country }: PostalAddress): string[] {
  const lines = formatAddress({
    addressLines: [address_line1, address_line2].filter((line) => line !== null),
    ...(city === null ? {} : { locality: city }),
    ...(state === null ? {} : { administrativeArea: state }),
    ...(zipcode === null ? {} : { postalCode: zipcode }),
    postalCountry: country ?? USUAL,
  });
  const unused = [zipcode, city, state].filter((part) => part !== null && !lines.some((line) => line.includes(part)));
  return [...lines, ...(unused as string[])];
}

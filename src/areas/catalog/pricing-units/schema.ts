import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { pageQuery } from '../../../platform/lists/pagination.ts';
import { optionalText, text } from '../../../platform/schema/fields.ts';

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;
/** How many characters a short name may have, and how many a description. Rule: pricing-units.md. */
const SHORT_NAME_MAX = 3;
const DESCRIPTION_MAX = 600;

const fields = {
  name: text(),
  short_name: text({ max: SHORT_NAME_MAX }),
  description: optionalText({ max: DESCRIPTION_MAX }),
};

/** Input of `POST /pricing_units`. Rule: other-routes.md#records. */
export const PricingUnitCreate = z.object({ code: text({ max: CODE_MAX }), ...fields });
export type PricingUnitCreate = z.infer<typeof PricingUnitCreate>;

/** Input of `PUT /pricing_units/{code}`: what is absent stays; the code cannot change. */
export const PricingUnitUpdate = z.object({ code: text(), ...fields }).partial();
export type PricingUnitUpdate = z.infer<typeof PricingUnitUpdate>;

export const PricingUnitsQuery = z.object({ search_term: textFilter, ...pageQuery });
export type PricingUnitsQuery = z.infer<typeof PricingUnitsQuery>;

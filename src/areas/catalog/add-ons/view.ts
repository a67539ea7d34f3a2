import { z } from 'zod';
import { viewOf, viewSchema } from '../../../platform/schema/columns.ts';
import type { TaxRow } from '../taxes/queries.ts';
import { TaxView, taxView } from '../taxes/view.ts';
import { type AddOnRow, addOns } from './queries.ts';

export const AddOnView = viewSchema(addOns).extend({ taxes: z.array(TaxView) });

/** An add-on as the API shows it. */
export const addOnView = (addOn: AddOnRow, taxes: readonly TaxRow[]) => ({
  ...viewOf(addOns, addOn),
  taxes: taxes.map(taxView),
});

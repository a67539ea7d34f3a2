import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { CHARGE_MODELS } from '../../../engine/pricing/charge-models.ts';
import { isPriced } from '../../../engine/pricing/price.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { decimalInput, INVALID, integer, MANDATORY, oneOf, oneOfOffered } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { Properties } from '../charges/schema.ts';

/** How many numbers of units may be priced at once: a curve has fewer points. */
const UNITS_MAX = 200;
const UNPRICED = CHARGE_MODELS.filter((model) => !isPriced(model));
/** Units as a metric could hold them, and amounts of events. */
const FIGURE = /^\d{1,15}(?:\.\d{1,15})?$/;
const figure = () => decimalInput().refine((text) => FIGURE.test(text), INVALID);

export const ChargeEstimate = z
  .object({
    charge_model: oneOfOffered(CHARGE_MODELS, UNPRICED),
    properties: Properties.nullish(),
    currency: oneOf(CURRENCIES),
    units: list(figure(), {
      max: UNITS_MAX,
      wrong: { error: ({ input }) => (input === undefined ? MANDATORY : INVALID) },
    }),
    events_count: integer({ min: 0 }).nullish(),
    precise_total_amount_cents: figure()
      .nullish()
      .describe('What the events of a dynamic charge name together, which then is mandatory; for each of `units`.'),
  })
  .refine(({ charge_model: model, precise_total_amount_cents: amount }) => model !== 'dynamic' || amount, {
    message: MANDATORY,
    path: ['precise_total_amount_cents'],
  })
  .check(renameErrors((path) => path.slice(0, 1)));
export type ChargeEstimate = z.output<typeof ChargeEstimate>;

export const ChargeEstimateEnvelope = z.object({
  charge_estimate: z.object({
    results: z.array(
      z.object({
        units: z.string(),
        amount_cents: z.int(),
        precise_amount_cents: z.string(),
        unit_amount: z.string(),
        amount_details: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
});
export type ChargeEstimateEnvelope = z.infer<typeof ChargeEstimateEnvelope>;

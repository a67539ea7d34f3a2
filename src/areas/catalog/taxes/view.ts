import { z } from 'zod';
import { viewOf, viewSchema } from '../../../platform/schema/columns.ts';
import { type TaxRow, taxes } from './queries.ts';

// Counters that are always 0, kept for old clients (taxes.md#resource).
const counters = {
  add_ons_count: 0,
  customers_count: 0,
  plans_count: 0,
  charges_count: 0,
  commitments_count: 0,
} as const;
type Counters = { [Name in keyof typeof counters]: z.ZodLiteral<0> };
const countersShape = Object.fromEntries(Object.keys(counters).map((name) => [name, z.literal(0)])) as Counters;

const { created_at, ...shape } = viewSchema(taxes).shape;
export const TaxView = z.object({ ...shape, ...countersShape, created_at });
export type TaxView = z.infer<typeof TaxView>;

/** A tax as the API shows it. */
export function taxView(tax: TaxRow): TaxView {
  const { created_at, ...shown } = viewOf(taxes, tax);
  return { ...shown, ...counters, created_at };
}

import { z } from 'zod';

const text = z.string().nullable();

const Address = z.object({ country: text, line1: text, city: text, region: text, postalCode: text });

/**
 * What is sent to an engine, as it is stored before the call: after a crash the same id goes with the same content.
 * Rule: tax-engines.md#what-is-sent.
 */
export const TaxDocumentSchema = z.object({
  id: z.string(),
  /** Issuing date. */
  date: z.iso.date(),
  timezone: z.string(),
  currency: z.string(),
  customer: z.object({
    id: z.string(),
    name: text,
    shipping: Address,
    billing: Address,
    taxIds: z.array(z.string()),
  }),
  seller: z.object({ address: Address }),
  lines: z.array(
    z.object({
      /** Key of the fee. */
      id: z.string(),
      /** Name of the item in the engine's list of products. */
      productId: z.string(),
      quantity: z.string(),
      /** In whole cents, without tax; negative in a credit note. */
      netCents: z.int(),
    }),
  ),
});

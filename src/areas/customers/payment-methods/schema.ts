import { z } from 'zod';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { CONTRACT_PROVIDERS } from '../../../platform/payments/contract-providers.ts';
import { isRealCard } from '../../../platform/payments/sandbox/behaviour.ts';
import { boolean, cleanText, INVALID } from '../../../platform/schema/fields.ts';
import { secret } from '../../../platform/schema/secret-field.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';

/**
 * A test card. A real card number is refused here and reaches neither a queue nor a log.
 * Rule: provider-connections.md#sandbox-provider.
 */
export const cardNumber = () =>
  cleanText().refine((number) => typeof number !== 'string' || !isRealCard(number), INVALID);

/** Input of `POST /customers/{external_id}/payment_methods`. Rule: provider-connections.md#sandbox-provider. */
export const MethodCreate = z.object({
  card_number: secret(cardNumber()),
  iban: secret(cleanText()),
  payment_provider_code: cleanText(),
  set_as_default: boolean().optional(),
});
export type MethodCreate = z.infer<typeof MethodCreate>;

/** The method by which a payable is to be paid. Rule: payments.md#payment-methods. */
export const MethodReference = z
  .object(
    {
      payment_method_type: z.enum(['provider', 'manual'], { error: () => INVALID }).nullish(),
      payment_method_id: z
        .string(INVALID)
        .max(LINE_MAX, INVALID)
        .transform((id) => id.trim() || null)
        .nullish(),
    },
    INVALID,
  )
  .nullish();
export type MethodReference = z.infer<typeof MethodReference>;

export const MethodsQuery = z.object(pageQuery);
export type MethodsQuery = z.infer<typeof MethodsQuery>;

const textOrNull = z.string().nullable();
export const MethodView = z.object({
  svc_id: z.uuid(),
  is_default: z.boolean(),
  payment_provider_code: textOrNull,
  payment_provider_name: textOrNull,
  payment_provider_type: z.enum(CONTRACT_PROVIDERS),
  provider_method_id: z.string(),
  created_at: z.string(),
});
export type MethodView = z.infer<typeof MethodView>;
export const MethodEnvelope = z.object({ payment_method: MethodView });
/** What the import of methods found: all that are stored now, how many are new, and how many are gone. */
export const MethodsImport = z.object({ payment_methods: z.array(MethodView), imported: z.int(), removed: z.int() });
export const MethodList = z.object({ payment_methods: z.array(MethodView), meta: PageMeta });

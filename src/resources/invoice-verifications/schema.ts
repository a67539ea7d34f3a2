import { z } from 'zod';

export const VERIFICATION_LEVELS = ['inputs', 'events'] as const;
export type VerificationLevel = (typeof VERIFICATION_LEVELS)[number];

export const VerificationCreate = z.object({
  level: z.enum(VERIFICATION_LEVELS, { error: 'value_is_invalid' }).nullish(),
});
export type VerificationCreate = z.infer<typeof VerificationCreate>;

const Difference = z.object({
  path: z.string(),
  stored: z.unknown(),
  computed: z.unknown(),
  cause: z.enum(['engine_changed', 'inputs_digest_mismatch', 'events_changed', 'arithmetic']),
});
export type Difference = z.infer<typeof Difference>;

const Verification = z.object({
  svc_id: z.string(),
  svc_invoice_id: z.string(),
  level: z.enum(VERIFICATION_LEVELS),
  status: z.enum(['equal', 'different', 'not_verifiable']),
  engine_version: z.object({ stored: z.int().nullable(), current: z.int() }),
  compared: z.object({ fees: z.int(), amounts: z.int() }),
  differences: z.array(Difference),
  not_verified: z.array(z.object({ path: z.string(), reason: z.string() })),
  since: z.object({ events_added: z.int(), corrections: z.int() }),
  verified_at: z.string(),
});
export type Verification = z.infer<typeof Verification>;

export const VerificationEnvelope = z.object({ verification: Verification });

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

/** The answer of a verification that continues as a run. Rule: other-routes.md#common-ground "Runs". */
const runFields = {
  progress: z.object({ done: z.int(), total: z.int().nullable(), percent: z.int() }),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  error: z.record(z.string(), z.any()).nullable(),
};

const Verification = z.object({
  svc_id: z.string(),
  svc_invoice_id: z.string(),
  level: z.enum(VERIFICATION_LEVELS),
  status: z.enum(['equal', 'different', 'not_verifiable']),
  engine_version: z.object({ stored: z.int().nullable(), current: z.int() }),
  compared: z.object({ fees: z.int(), amounts: z.int() }),
  differences: z.array(Difference),
  not_verified: z.array(z.object({ path: z.string(), reason: z.string() })),
  since: z.object({ events_added: z.int(), corrections: z.int() }).nullable(),
  verified_at: z.string(),
});
export type Verification = z.infer<typeof Verification>;

/** A verification that still runs, of an invoice with many fees. */
const RunningVerification = z.object({
  svc_id: z.string(),
  svc_invoice_id: z.string(),
  level: z.enum(VERIFICATION_LEVELS),
  status: z.enum(['pending', 'running', 'failed']),
  ...runFields,
});

export const VerificationEnvelope = z.object({
  verification: z.union([Verification.extend(z.object(runFields).partial().shape), RunningVerification]),
});

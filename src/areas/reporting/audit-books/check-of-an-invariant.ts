import type { Context } from '../../../platform/context.ts';

/** One exception from an invariant. */
export interface Finding {
  resource_id: string;
  expected: string | null;
  actual: string | null;
  details?: object;
}

/** An invariant: its query must return no row. Rule: auditor.md. */
export interface Check {
  /** `A01` and so on. */
  code: string;
  mustHold: string;
  resourceType: string;
  /** Whether it examines samples or whole tables; such checks run nightly and on request only. */
  isSlow?: true;
  /** The exceptions of one organization, at most `MOST_FINDINGS`. */
  find(ctx: Context): PromiseLike<readonly Finding[]>;
}

/** How many findings of one check are kept; more would not help to repair them. */
export const MOST_FINDINGS = 100;

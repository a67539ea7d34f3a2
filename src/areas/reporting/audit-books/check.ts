import type { Context } from '../../../platform/context.ts';

/** One exception from an invariant. */
export interface Finding {
  resource_id: string;
  expected: string | null;
  actual: string | null;
  details?: object;
}

/** An invariant: what it asks for must be empty. Rule: auditor.md. */
export interface Check {
  /** `A01` and so on. */
  code: string;
  mustHold: string;
  resourceType: string;
  /** Looks at samples or at everything: nightly and on request only. */
  isSlow?: true;
  /** The exceptions of one organization, at most `MOST_FINDINGS`. */
  find(ctx: Context): PromiseLike<readonly Finding[]>;
}

/** Findings of one check that are kept; more would not help to repair them. */
export const MOST_FINDINGS = 100;

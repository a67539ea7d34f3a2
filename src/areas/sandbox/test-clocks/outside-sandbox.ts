import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';

/** @throws Refusal 403 feature_unavailable, outside of sandboxes, which always live in real time */
export function refuseOutsideSandbox(ctx: Context): void {
  if (!ctx.sandbox) throw refuse.forbidden('feature_unavailable');
}

import type { Actor } from '../../../platform/context.ts';

/** The actor of operator commands: no key of the organization. */
export const OPERATOR: Actor = { source: 'system', apiKeyId: null };

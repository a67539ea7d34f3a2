import type { Actor } from '../../../platform/context.ts';

/** Who runs the service, at its command line: no key of the organization's. */
export const OPERATOR: Actor = { source: 'system', apiKeyId: null };

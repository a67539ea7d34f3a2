import type { Config } from '../config.ts';
import { targetOf } from './addresses.ts';

type Walls = Pick<Config, 'WEBHOOK_ALLOW_PRIVATE_NETWORKS' | 'PRIVATE_TARGETS'>;

/** Whether an address of a client may lie in a private network: a neighbour that the operator lists. */
export const mayBePrivate = (url: string, config: Walls): boolean =>
  config.WEBHOOK_ALLOW_PRIVATE_NETWORKS ||
  (URL.canParse(url) && config.PRIVATE_TARGETS.includes(new URL(url).hostname.replace(/^\[|\]$/g, '')));

/**
 * Whether an address that a client gave may be called, as far as the address alone says: https and public, or a
 * neighbour. Rule: provider-connections.md#custom-provider.
 */
export function mayCall(url: string, config: Walls): boolean {
  const allowPrivate = mayBePrivate(url, config);
  if (!allowPrivate && !/^https:/i.test(url)) return false;
  try {
    targetOf(url, { allowPrivate });
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a secret key of Stripe is one of test mode, full or restricted: it moves no money.
 * Rule: provider-connections.md#sandboxes-reach-no-live-account.
 */
export const isTestKey = (secretKey: string): boolean => /^[sr]k_test_/.test(secretKey);

/** What a connection of a sandbox shows, and is refused with, when its key or account is a live one. */
export const LIVE_KEY_IN_SANDBOX = 'live_key_in_sandbox';

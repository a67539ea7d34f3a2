import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type Metadata, metadataFaults } from '../../catalog/plans/metadata.ts';
import { recordWallet, shownWallet } from './announce.ts';
import { keyOf, lockWallet, type WalletKey, type WalletRow } from './queries.ts';
import { changeWallet } from './writes.ts';

/** A wallet by its id, or by its code at a customer. */
type Input = ({ svc_id: string } | { external_customer_id: ExternalCustomerId; code: string }) & {
  body: Metadata;
  key: string;
};

/**
 * Replaces the wallet's metadata. @throws Refusal 404 customer, wallet.
 * Rule: credit-notes.md#metadata.
 */
export async function replaceWalletMetadata(ctx: Context, input: Input) {
  return change(ctx, await lock(ctx, input), input.body);
}

/**
 * Adds keys to the wallet's metadata, and rewrites those of the same name.
 *
 * @throws Refusal 404 customer, wallet; 422 value: too_many_keys, counted with those that were there
 */
export async function mergeWalletMetadata(ctx: Context, input: Input) {
  const wallet = await lock(ctx, input);
  const merged = { ...wallet.metadata, ...input.body };
  const faults = metadataFaults(merged);
  if (faults.length > 0) throw refuse.invalid({ value: faults });
  return change(ctx, wallet, merged);
}

/** @throws Refusal 404 customer, wallet */
export async function deleteAllWalletMetadata(ctx: Context, input: Input) {
  return change(ctx, await lock(ctx, input), null);
}

/** @throws Refusal 404 customer, wallet; 404 metadata, when the wallet has none at all */
export async function deleteWalletMetadataKey(ctx: Context, input: Input) {
  const wallet = await lock(ctx, input);
  if (wallet.metadata === null) throw refuse.notFound('metadata');
  const { [input.key]: _gone, ...left } = wallet.metadata;
  return change(ctx, wallet, left);
}

async function lock(ctx: Context, input: Input): Promise<WalletRow> {
  const key: WalletKey = 'svc_id' in input ? { id: input.svc_id } : await keyOf(ctx, input);
  const wallet = await lockWallet(ctx, key);
  if (!wallet) throw refuse.notFound('wallet');
  return wallet;
}

async function change(ctx: Context, wallet: WalletRow, metadata: Metadata | null) {
  const before = await shownWallet(ctx, wallet);
  await changeWallet(ctx, wallet.id, { metadata });
  await recordWallet(ctx, 'wallet.updated', wallet.id, before);
  return { metadata };
}

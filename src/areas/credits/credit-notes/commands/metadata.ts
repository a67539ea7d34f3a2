import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { type Metadata, metadataFaults } from '../../../catalog/plans/metadata.ts';
import { changeCreditNote, lockCreditNote } from '../writes.ts';

interface Input {
  svc_id: string;
  body: Metadata;
}

/** Replaces the note's metadata. @throws Refusal 404 credit_note */
export async function replaceCreditNoteMetadata(ctx: Context, { svc_id, body }: Input) {
  return change(ctx, (await lockCreditNote(ctx, svc_id)).id, body);
}

/** Adds keys to the note's metadata, and rewrites those of the same name. @throws Refusal 404 credit_note; 422 value */
export async function mergeCreditNoteMetadata(ctx: Context, { svc_id, body }: Input) {
  const note = await lockCreditNote(ctx, svc_id);
  return change(ctx, note.id, mergedMetadata(note.metadata, body));
}

/** @throws Refusal 422 value: too_many_keys, counted with those that were there */
export function mergedMetadata(former: Metadata | null, added: Metadata): Metadata {
  const merged = { ...former, ...added };
  const faults = metadataFaults(merged);
  if (faults.length > 0) throw refuse.invalid({ value: faults });
  return merged;
}

/** @throws Refusal 404 credit_note */
export async function deleteAllCreditNoteMetadata(ctx: Context, { svc_id }: { svc_id: string }) {
  return change(ctx, (await lockCreditNote(ctx, svc_id)).id, null);
}

/** @throws Refusal 404 credit_note; 404 metadata, when the note has none at all */
export async function deleteCreditNoteMetadataKey(ctx: Context, { svc_id, key }: { svc_id: string; key: string }) {
  const note = await lockCreditNote(ctx, svc_id);
  if (note.metadata === null) throw refuse.notFound('metadata');
  const { [key]: _gone, ...left } = note.metadata;
  return change(ctx, note.id, left);
}

// Rule: credit-notes.md#metadata.
async function change(ctx: Context, id: string, metadata: Metadata | null) {
  await changeCreditNote(ctx, id, { metadata });
  return { metadata };
}

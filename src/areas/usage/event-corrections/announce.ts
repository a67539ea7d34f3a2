import type { Context } from '../../../platform/context.ts';
import type { CorrectionRow } from './queries.ts';
import { correctionView } from './view.ts';

/** Announces a finished correction. */
export const announceSettled = (ctx: Context, correction: CorrectionRow): void =>
  ctx.record({
    webhook: {
      type: 'event_correction.settled',
      objectType: 'event_correction',
      objectId: correction.id,
      object: correctionView(correction),
    },
  });

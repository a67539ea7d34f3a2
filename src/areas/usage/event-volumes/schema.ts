import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { INVALID } from '../../../platform/schema/fields.ts';

export const VOLUME_STEPS = ['minute', 'hour', 'day'] as const;
export type VolumeStep = (typeof VOLUME_STEPS)[number];

export const EventVolumeQuery = z.object({
  from: textFilter,
  to: textFilter,
  code: textFilter,
  step: textFilter
    .transform((value, context): VolumeStep => {
      const known = VOLUME_STEPS.find((step) => step === (value ?? 'minute'));
      if (known) return known;
      context.addIssue({ code: 'custom', message: INVALID });
      return z.NEVER;
    })
    .meta({ type: 'string', enum: VOLUME_STEPS }),
});
export type EventVolumeQuery = z.output<typeof EventVolumeQuery>;

const Counts = z.array(z.int());

export const EventVolume = z.object({
  event_volume: z.object({
    step: z.enum(VOLUME_STEPS),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    series: z.array(z.object({ code: z.string().nullable(), stored: Counts, unmatched: Counts })),
    replayed: Counts.nullable(),
    rejected: Counts.nullable(),
    totals: z.object({
      stored: z.int(),
      unmatched: z.int(),
      replayed: z.int().nullable(),
      rejected: z.int().nullable(),
    }),
  }),
});
export type EventVolume = z.infer<typeof EventVolume>;

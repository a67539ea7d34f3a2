import type { Operation } from '../../../platform/operation.ts';
import { showEventVolume } from './reads.ts';
import { EventVolume, EventVolumeQuery } from './schema.ts';

export const eventVolumeOperations: Operation[] = [
  {
    name: 'findEventVolume',
    method: 'get',
    path: '/event_volume',
    permission: 'event',
    tag: 'events',
    summary: 'How many events came, by minute, hour or day',
    query: EventVolumeQuery,
    answer: EventVolume,
    kind: 'read',
    run: showEventVolume,
  },
];

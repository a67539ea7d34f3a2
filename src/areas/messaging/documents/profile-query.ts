import { z } from 'zod';
import { PROFILES } from '../../../engine/e-documents/profiles.ts';
import { oneOf } from '../../../platform/schema/fields.ts';

/** The profile of electronic documents that a request names; without it the one that was chosen. */
export const ProfileQuery = z.object({ profile: oneOf(PROFILES).optional() });
export type ProfileQuery = z.infer<typeof ProfileQuery>;

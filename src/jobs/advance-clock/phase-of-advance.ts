/**
 * The position of an advance, stored with the clock so that another worker can continue. At the start open work is
 * settled; in an instant its jobs run in order; at the target the marks left by the advance are treated.
 */
export interface Phase {
  stage: 'start' | 'begun' | 'instant' | 'target';
  /** Job in work; null before the first job of the instant with work. */
  job: string | null;
  /** Job whose line is in the timeline already, so that a repeated job writes no second one. */
  told: string | null;
  /** Whether the instant is counted among those with work. */
  counted: boolean;
  /** Marks that requests had set before the advance, by job (test-clocks.md#advancing: they wait for their tick). */
  waiting: Record<string, string[]>;
}

export const START: Phase = { stage: 'start', job: null, told: null, counted: false, waiting: {} };

/** The phase before the first job of a stage. */
export const entering = (stage: Phase['stage'], former: Phase): Phase => ({ ...START, stage, waiting: former.waiting });

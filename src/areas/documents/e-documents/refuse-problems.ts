import { isReady, type Problem } from '../../../engine/e-documents/rules.ts';
import { refuse } from '../../../platform/refusal.ts';

/** @throws Refusal 422 base e_document_not_available with the problems, where one of them is an error */
export function refuseProblems(problems: readonly Problem[]): void {
  if (!isReady(problems)) throw refuse.invalid({ base: ['e_document_not_available'], problems }, []);
}

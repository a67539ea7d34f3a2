import { readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * A secret in the file of connectors: only the name of the environment variable that holds it. The value takes its
 * place when the file is read.
 */
export const secretSetting = (environment: NodeJS.ProcessEnv) =>
  z
    .strictObject(
      { env: z.string().min(1) },
      { error: (issue) => (issue.code === 'invalid_type' ? 'must name a variable, as { env: NAME }' : undefined) },
    )
    .transform(({ env }, context) => {
      const value = environment[env];
      if (value !== undefined && value !== '') return value;
      context.addIssue({ code: 'custom', path: ['env'], message: `names ${env}, which is not set` });
      return z.NEVER;
    });

/** The text of a file that a setting names. */
export const fileSetting = () =>
  z.string().transform((path, context) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      context.addIssue({ code: 'custom', message: 'must be the path of a file that can be read' });
      return z.NEVER;
    }
  });

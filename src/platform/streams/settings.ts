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

/** As whom a server is asked; without any of it that is found as the SDK finds it. */
export const credentialSettings = (environment: NodeJS.ProcessEnv) => ({
  credentials: z
    .strictObject({
      access_key_id: z.union([z.string().min(1), secretSetting(environment)]),
      secret_access_key: secretSetting(environment),
    })
    .optional(),
  /** Of the SDK's files of configuration, such as one that takes a role. */
  profile: z.string().min(1).optional(),
});

/** Where a server is, in HTTP. Credentials are no part of it, since addresses are shown where trouble is told. */
export const addressSetting = () =>
  z.string().refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return (url?.protocol === 'https:' || url?.protocol === 'http:') && url.username === '' && url.password === '';
  }, 'must be a URL as https://host:port, without credentials');

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

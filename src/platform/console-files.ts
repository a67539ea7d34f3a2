/** Where the build puts the pages of the console, below the project's root. */
export const CONSOLE_FOLDER = 'dist/console';
export const MANIFEST = 'manifest.json';

/** Which files the shell of the console loads; names below `assets`. */
export interface ConsoleManifest {
  script: string;
  style: string;
  preloads: string[];
  /** Of all files together. */
  version: string;
}

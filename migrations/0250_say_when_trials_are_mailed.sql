-- Why: an issuer chooses how many days before its end a trial is mailed (mails.md).
-- Locks: mail_settings while a column with a constant default is added (no rewrite).

alter table mail_settings add column trial_days integer not null default 3
  constraint mail_settings_trial_days check (trial_days between 1 and 30);
comment on column mail_settings.trial_days is 'How many days before its end the mail `trial_ending` is sent.';

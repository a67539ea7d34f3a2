-- no transaction
-- Why: who decides whether an event is a repetition reads its key alone, so each stored event needs one before the new
--   version runs. About a minute for five million events, by pages of 20 000; when it is ended it goes on where it was.
-- Locks: none; events are stored meanwhile.

call fill_event_keys();

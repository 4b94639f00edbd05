#ifndef ENGAGE_CPROCESSORS_H
#define ENGAGE_CPROCESSORS_H

/// How many processors the process may use; 0 where the system does not say.
int engage_available_processors(void);

#endif

#ifndef WITNESS_H
#define WITNESS_H

/* What a witness process gives up before it reads what somebody else wrote. */

/* folder_fd: the witness' folder, the only one it may use from then on. */
void witness_confine(int folder_fd);

#endif

/* How much of the processors' time a control group gives this process. */
#ifndef SYI_DEVICE_QUOTA_H
#define SYI_DEVICE_QUOTA_H

/* In whole processors, rounded up; 0: there is no limit, or it is not known. `membership` is
 * Linux's /proc/self/cgroup, `groups` where control groups of version 2 are mounted. */
int syi_cpu_quota(const char *membership, const char *groups);

#endif

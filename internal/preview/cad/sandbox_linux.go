package cad

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock (landlock(7)) to read and run files, and all rights of its first version.
const (
	readFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	allFiles  = readFiles | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	// ofFiles are the rights that a rule for a file, rather than a folder, may have.
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// readable are the paths with programs, libraries and what these read. /etc as a whole, /proc and
// the folders of users are not among them: they can contain secrets.
var readable = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/run/current-system",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts", "/etc/localtime",
	"/sys/devices/system/cpu", "/dev/urandom", "/dev/random", "/dev/zero",
}

// sandboxed returns an error if the kernel has no Landlock.
func sandboxed() error {
	if landlockVersion() < 1 {
		return fmt.Errorf("the kernel provides no Landlock (Linux 5.13 and later do, unless it is turned off), so the program would not be confined")
	}
	if auditArch == 0 {
		return fmt.Errorf("converters can be confined on amd64 and arm64 only, not on %s", runtime.GOARCH)
	}
	return nil
}

func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// confine limits this thread, and the program that it then executes, to the system's programs and
// to one writable folder, without a network.
func confine(program, folder string) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := confineFiles(program, folder); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := confineCalls(); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// confineFiles limits the files that this thread can open.
func confineFiles(program, folder string) error {
	version := landlockVersion()
	rules := unix.LandlockRulesetAttr{Handled_access_fs: allFiles}
	if version >= 2 {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	size := unsafe.Sizeof(rules.Handled_access_fs) // all versions know the first field
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), size, 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	allow := func(path string, access uint64) error {
		at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(at)
		var info unix.Stat_t
		if err := unix.Fstat(at, &info); err != nil {
			return err
		}
		if info.Mode&unix.S_IFMT != unix.S_IFDIR {
			access &= ofFiles
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access & rules.Handled_access_fs, Parent_fd: int32(at)}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, unix.LANDLOCK_RULE_PATH_BENEATH,
			uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return errno
		}
		return nil
	}
	for _, path := range readable {
		if err := allow(path, readFiles); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	// The program itself may be elsewhere, such as a script.
	if file, err := filepath.EvalSymlinks(program); err == nil {
		program = file
	}
	for path, access := range map[string]uint64{
		program: readFiles, "/dev/null": readFiles | unix.LANDLOCK_ACCESS_FS_WRITE_FILE, folder: rules.Handled_access_fs,
	} {
		if err := allow(path, access); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

import BatchFoundation
import GRDBSQLite
import Glibc

/// SQLite's way to the files of every ``LossyDisk``: a virtual file system before the system's own, which all other files go straight to.
enum DiskLayer {
  private struct Known {
    weak var disk: LossyDisk?
  }

  private static let disks = Guarded<[String: Known]>([:])

  static func add(_ disk: LossyDisk) {
    precondition(isInstalled, "SQLite takes no file system")
    disks.withLock { disks in
      disks = disks.filter { $0.value.disk != nil }
      disks[disk.folder] = Known(disk: disk)
    }
  }

  private static func disk(of path: String) -> LossyDisk? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return disks.withLock { $0[String(path[..<slash])]?.disk }
  }

  // MARK: The file system

  /// The system's; it is there as long as the process.
  nonisolated(unsafe) private static let system: UnsafeMutablePointer<sqlite3_vfs>? = unsafe sqlite3_vfs_find(nil)

  /// Registered once, as the one that is taken where none is named.
  private static let isInstalled: Bool = {
    guard let system = unsafe system else { return false }
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe layer.initialize(to: system.pointee)
    unsafe layer.pointee.pNext = nil
    unsafe layer.pointee.zName = UnsafePointer(strdup("lossy"))
    unsafe layer.pointee.szOsFile = Int32(LayeredFile.headSize) + system.pointee.szOsFile
    unsafe layer.pointee.xOpen = { _, name, file, flags, granted in unsafe DiskLayer.open(name, file, flags, granted) }
    unsafe layer.pointee.xDelete = { _, name, syncsFolder in unsafe DiskLayer.remove(name, syncsFolder) }
    return unsafe sqlite3_vfs_register(layer, 1) == SQLITE_OK
  }()

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ granted: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let system = unsafe system, let file = unsafe file, let open = unsafe system.pointee.xOpen else {
      return SQLITE_ERROR
    }
    guard let name = unsafe name, let disk = unsafe disk(of: String(cString: name)) else {
      return unsafe open(system, name, file, flags, granted)
    }
    let path = unsafe String(cString: name)
    disk.opened(path)
    unsafe file.pointee.pMethods = nil
    let code = unsafe open(system, name, LayeredFile.real(file), flags, granted)
    if code == SQLITE_OK { unsafe LayeredFile.begin(file, LayeredFile(disk: disk, path: path)) }
    return code
  }

  private static func remove(_ name: UnsafePointer<CChar>?, _ syncsFolder: Int32) -> Int32 {
    guard let system = unsafe system, let remove = unsafe system.pointee.xDelete else { return SQLITE_ERROR }
    if let name = unsafe name { unsafe disk(of: String(cString: name))?.removed(String(cString: name)) }
    return unsafe remove(system, name, syncsFolder)
  }
}

/// An open file of a ``LossyDisk``. In SQLite's memory a head stands before the system's own file.
private final class LayeredFile {
  @safe private struct Head {
    var file: sqlite3_file
    var layered: UnsafeMutableRawPointer
  }

  static let headSize = MemoryLayout<Head>.stride

  let disk: LossyDisk
  let path: String

  init(disk: LossyDisk, path: String) {
    self.disk = disk
    self.path = path
  }

  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// The system's file behind the head.
  static func real(_ file: File) -> File {
    unsafe (UnsafeMutableRawPointer(file) + headSize).assumingMemoryBound(to: sqlite3_file.self)
  }

  static func begin(_ file: File, _ layered: LayeredFile) {
    unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self).initialize(
      to: Head(file: sqlite3_file(pMethods: methods), layered: Unmanaged.passRetained(layered).toOpaque()))
  }

  private static func of(_ file: File) -> Unmanaged<LayeredFile> {
    unsafe Unmanaged.fromOpaque(UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self).pointee.layered)
  }

  /// Hands a call on to the system's file.
  private static func pass(
    _ file: File?, _ call: (sqlite3_io_methods, File) -> Int32?
  ) -> Int32 {
    guard let file = unsafe file, let methods = unsafe real(file).pointee.pMethods else { return SQLITE_IOERR }
    return unsafe call(methods.pointee, real(file)) ?? SQLITE_IOERR
  }

  /// As ``pass(_:_:)``, while there is power and room.
  private static func change(
    _ file: File?, _ note: (LayeredFile) -> LossyDisk.Answer, _ call: (sqlite3_io_methods, File) -> Int32?
  ) -> Int32 {
    guard let file = unsafe file else { return SQLITE_IOERR }
    switch unsafe note(of(file).takeUnretainedValue()) {
    case .done: return unsafe pass(file, call)
    case .off: return SQLITE_IOERR
    case .full: return SQLITE_FULL
    }
  }

  /// Never changed, and there as long as the process.
  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    var methods = sqlite3_io_methods()
    // 3 would let SQLite map the file into memory.
    methods.iVersion = 2
    unsafe methods.xClose = { file in
      let code = unsafe pass(file) { unsafe $0.xClose?($1) }
      if let file = unsafe file { unsafe of(file).release() }
      return code
    }
    unsafe methods.xRead = { file, buffer, count, offset in
      unsafe pass(file) { unsafe $0.xRead?($1, buffer, count, offset) }
    }
    unsafe methods.xWrite = { file, bytes, count, offset in
      unsafe change(file) { file in
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return file.disk.take(.bytes(bytes, at: Int(offset)), to: file.path)
      } _: {
        unsafe $0.xWrite?($1, bytes, count, offset)
      }
    }
    unsafe methods.xTruncate = { file, size in
      unsafe change(file) {
        $0.disk.take(.size(Int(size)), to: $0.path)
      } _: {
        unsafe $0.xTruncate?($1, size)
      }
    }
    // The files themselves need no sync: what they are after a cut is known here.
    unsafe methods.xSync = { file, _ in
      unsafe change(file) {
        $0.disk.sync($0.path)
      } _: { _, _ in
        SQLITE_OK
      }
    }
    unsafe methods.xFileSize = { file, size in unsafe pass(file) { unsafe $0.xFileSize?($1, size) } }
    unsafe methods.xLock = { file, level in unsafe pass(file) { unsafe $0.xLock?($1, level) } }
    unsafe methods.xUnlock = { file, level in unsafe pass(file) { unsafe $0.xUnlock?($1, level) } }
    unsafe methods.xCheckReservedLock = { file, held in unsafe pass(file) { unsafe $0.xCheckReservedLock?($1, held) } }
    unsafe methods.xFileControl = { file, operation, argument in
      unsafe pass(file) { unsafe $0.xFileControl?($1, operation, argument) }
    }
    unsafe methods.xSectorSize = { file in unsafe pass(file) { unsafe $0.xSectorSize?($1) } }
    unsafe methods.xDeviceCharacteristics = { file in unsafe pass(file) { unsafe $0.xDeviceCharacteristics?($1) } }
    unsafe methods.xShmMap = { file, page, size, extends, memory in
      unsafe pass(file) { unsafe $0.xShmMap?($1, page, size, extends, memory) }
    }
    unsafe methods.xShmLock = { file, offset, count, flags in
      unsafe pass(file) { unsafe $0.xShmLock?($1, offset, count, flags) }
    }
    unsafe methods.xShmBarrier = { file in
      _ = unsafe pass(file) {
        unsafe $0.xShmBarrier?($1)
        return SQLITE_OK
      }
    }
    unsafe methods.xShmUnmap = { file, removes in unsafe pass(file) { unsafe $0.xShmUnmap?($1, removes) } }
    let place = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe place.initialize(to: methods)
    return unsafe UnsafePointer(place)
  }()
}
